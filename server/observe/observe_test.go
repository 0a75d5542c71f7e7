package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/testbed"
	"tasklens/server/observe"
)

// scrape returns the metrics as Prometheus reads them.
func scrape(t *testing.T, o *observe.Observer) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	o.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if recorder.Code != http.StatusOK || !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %s: %s", recorder.Code, recorder.Header().Get("Content-Type"), recorder.Body)
	}
	return recorder.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("the metrics lack the line %s:\n%s", line, text)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	o := observe.New()
	ctx, end := o.Request(t.Context(), "id", "GET", http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})
	if observe.TraceID(ctx) != "" {
		t.Error("there is a trace although traces are off")
	}
	wantLines(t, scrape(t, o), "tasklens_http_requests_in_flight 1",
		// An alert on an increase needs the counter to exist at zero.
		`tasklens_limits_hit_total{limit="rate"} 0`, `tasklens_limits_hit_total{limit="in_flight"} 0`,
		`tasklens_records_lost_total{kind="query_log"} 0`, `tasklens_records_lost_total{kind="retrievals"} 0`)
	end("GET", "/api/tickets/:ticket_id/similar", 200)
	for _, status := range []int{503, 0} {
		_, end := o.Request(t.Context(), "id", "POST", nil)
		end("POST", "/api/query", status)
	}
	o.Query("query", "answered", false, 2)
	o.Query("query", "abstained", true, 0)
	o.LimitHit(observe.LimitRate)
	o.Lost(observe.LostQueryLog, 7)
	for _, origin := range []memo.Origin{memo.Hit, memo.Hit, memo.Shared, memo.Stored} {
		o.Cached("query", origin)
	}
	_, endBatch := o.Batch(t.Context(), 5)
	endBatch(3, fault.New(fault.Provider, "It failed."))
	text := scrape(t, o)
	wantLines(t, text, "tasklens_http_requests_in_flight 0",
		`tasklens_http_request_duration_seconds_count{method="GET",route="/api/tickets/:ticket_id/similar",status="2xx"} 1`,
		`tasklens_http_request_duration_seconds_count{method="POST",route="/api/query",status="5xx"} 1`,
		`tasklens_http_request_duration_seconds_count{method="POST",route="/api/query",status="none"} 1`,
		`tasklens_queries_total{kind="query",outcome="answered"} 1`, `tasklens_low_similarity_total{kind="query"} 1`, "tasklens_unknown_citations_total 2",
		`tasklens_limits_hit_total{limit="rate"} 1`, `tasklens_records_lost_total{kind="query_log"} 7`,
		`tasklens_cache_requests_total{kind="query",result="hit"} 2`, `tasklens_cache_requests_total{kind="query",result="shared"} 1`, `tasklens_cache_requests_total{kind="query",result="miss"} 1`,
		`tasklens_worker_batch_duration_seconds_count{outcome="provider"} 1`,
		`tasklens_worker_sources_total{outcome="done"} 3`, `tasklens_worker_sources_total{outcome="left"} 2`)
	for _, other := range []string{"go_goroutines ", "process_resident_memory_bytes ", "tasklens_panics_total "} {
		if !strings.Contains(text, "\n"+other) {
			t.Errorf("the metrics lack %s", other)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestUpstreamsAreCounted(t *testing.T) {
	t.Parallel()
	o := observe.New()
	gone := errors.New("gone")
	transport := o.RPC(roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("traceparent") != "" {
			t.Error("trace headers are sent although traces are off")
		}
		if strings.HasSuffix(r.URL.Path, "/list_projects") {
			return nil, gone
		}
		return &http.Response{StatusCode: http.StatusForbidden}, nil
	}))
	for path, want := range map[string]error{"list_projects": gone, "search_hybrid": nil} {
		if _, err := transport.RoundTrip(httptest.NewRequest(http.MethodPost, "http://db/rest/v1/rpc/"+path, nil)); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	tokens := chat.Completion{TokensIn: 40, TokensOut: 2}
	for err, said := range map[error]chat.Completion{nil: tokens, fault.New(fault.Provider, "It failed."): {}, context.Canceled: {}} {
		_, end := o.Model(t.Context(), "chat", "gpt")
		end(said, err)
	}
	o.Circuits(openai.New(openai.Config{}))
	wantLines(t, scrape(t, o),
		`tasklens_rpc_duration_seconds_count{function="list_projects",status="none"} 1`,
		`tasklens_rpc_duration_seconds_count{function="search_hybrid",status="4xx"} 1`,
		`tasklens_model_call_duration_seconds_count{model="gpt",operation="chat",outcome="ok"} 1`,
		`tasklens_model_call_duration_seconds_count{model="gpt",operation="chat",outcome="provider"} 1`,
		`tasklens_model_call_duration_seconds_count{model="gpt",operation="chat",outcome="cancelled"} 1`,
		`tasklens_model_tokens_total{direction="input",model="gpt",operation="chat"} 40`,
		`tasklens_model_tokens_total{direction="output",model="gpt",operation="chat"} 2`,
		`tasklens_model_circuit_open{operation="chat"} 0`, `tasklens_model_circuit_open{operation="embeddings"} 0`)
}

// database is one whose calls the test answers.
type database func(ctx context.Context) (string, error)

func (d database) Call(ctx context.Context, _ string, _, result any) error {
	rows, err := d(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(rows), result)
}

// Concurrent scrapes share one query of the queue. A failure is reported as tasklens_queue_up 0.
func TestQueue(t *testing.T) {
	t.Parallel()
	o, asked := observe.New(), 0
	o.Queue(database(func(ctx context.Context) (string, error) {
		asked++
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the queue is queried without a deadline")
		}
		return `[{"pending":12,"running":4,"failed":3,"dead":2,"oldest_pending_seconds":0.5,"chunks":15050,"sources_without_chunks":7,"refused_rows":6,"waiting_copies":8}]`, nil
	}), "m")
	var looking sync.WaitGroup
	for range 3 {
		looking.Go(func() {
			wantLines(t, scrape(t, o), "tasklens_queue_up 1",
				`tasklens_queue_sources{state="pending"} 12`, `tasklens_queue_sources{state="running"} 4`, `tasklens_queue_sources{state="failed"} 3`,
				`tasklens_queue_sources{state="dead"} 2`, "tasklens_queue_oldest_pending_seconds 0.5", "tasklens_chunks 15050", "tasklens_sources_without_chunks 7", "tasklens_refused_rows 6", "tasklens_waiting_copies 8")
		})
	}
	looking.Wait()
	if now := o.Indexing(); now.RefusedRows != 6 || now.WaitingCopies != 8 {
		t.Errorf("%d rows are refused and %d wait, want 6 and 8", now.RefusedRows, now.WaitingCopies)
	}
	if asked != 1 {
		t.Errorf("the queue was queried %d times, want once", asked)
	}
	for name, failing := range map[string]database{
		"unreachable": func(context.Context) (string, error) { return "", errors.New("gone") },
		"a panic":     func(context.Context) (string, error) { panic("broken") },
	} {
		o := observe.New()
		o.Queue(failing, "m")
		if text := scrape(t, o); !strings.Contains(text, "\ntasklens_queue_up 0\n") || !strings.Contains(text, "\ntasklens_chunks NaN\n") {
			t.Errorf("%s: the metrics are %s", name, text)
		}
	}
}

// A probe gets the last known number while the database hangs or fails.
func TestProbesDoNotWait(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]database{
		"hangs": func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"fails": func(context.Context) (string, error) { return "", errors.New("gone") },
	} {
		synctest.Test(t, func(t *testing.T) {
			o, answer := observe.New(), database(func(context.Context) (string, error) { return `[{"refused_rows":6}]`, nil })
			o.Queue(database(func(ctx context.Context) (string, error) { return answer(ctx) }), "m")
			if got := o.Indexing().RefusedRows; got != 6 {
				t.Errorf("%d rows are refused, want 6", got)
			}
			synctest.Wait()
			answer = later
			for range 100 {
				time.Sleep(time.Second)
				begun := time.Now()
				if got := o.Indexing().RefusedRows; got != 6 || time.Since(begun) >= 500*time.Millisecond {
					t.Errorf("%s: %d rows after %v", name, got, time.Since(begun))
				}
			}
			time.Sleep(time.Minute) // the last reading ends
		})
	}
}

// export returns an observer with its own collector. Tests that use it cannot be parallel, because
// the exporter reads the environment.
func export(t *testing.T) (*observe.Observer, *testbed.Collector) {
	t.Helper()
	collector := testbed.StartCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	o := observe.New()
	if err := o.Export(t.Context(), func(message string, err error) { t.Errorf("%s: %v", message, err) }); err != nil {
		t.Fatal(err)
	}
	return o, collector
}

// The spans of a request form a tree under the caller's span, and upstreams get the trace headers.
func TestSpans(t *testing.T) {
	o, collector := export(t)
	var carried []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Header.Get("traceparent"))
		w.WriteHeader(http.StatusForbidden)
	}))
	defer upstream.Close()
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx, endRequest := o.Request(t.Context(), "request-1", "POST", http.Header{"Traceparent": {caller}})
	if observe.TraceID(ctx) != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the trace id is %q", observe.TraceID(ctx))
	}
	send := func(ctx context.Context, transport http.RoundTripper, path string) {
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, upstream.URL+path, strings.NewReader("a text"))
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if request.Header.Get("traceparent") != "" {
			t.Error("the transport modified the caller's request")
		}
	}
	send(ctx, o.RPC(http.DefaultTransport), "/rest/v1/rpc/search_hybrid")
	asking, endModel := o.Model(ctx, "chat", "gpt")
	send(asking, o.Carry(http.DefaultTransport), "/v1/chat/completions")
	endModel(chat.Completion{Model: "gpt-2030", Finish: "stop", TokensIn: 40, TokensOut: 2}, nil)
	_, endRefused := o.Model(ctx, "embeddings", "small")
	endRefused(chat.Completion{}, fault.New(fault.Provider, "It failed."))
	endRequest("POST", "/api/query", 500)
	send(t.Context(), o.RPC(http.DefaultTransport), "/rest/v1/rpc/claim_embedding_jobs") // outside any trace
	_, endBatch := o.Batch(t.Context(), 5)
	endBatch(3, fault.New(fault.Provider, "It failed."))
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	request, batch := collector.Await(t, "POST /api/query"), collector.Await(t, "embed batch")
	rpc, chat := collector.Await(t, "rpc search_hybrid"), collector.Await(t, "chat gpt")
	for name, got := range map[string][2]any{
		"request": {request.Attributes, map[string]string{"http.request.method": "POST", "http.route": "/api/query", "http.response.status_code": "500", "error.type": "Internal Server Error", "tasklens.request_id": "request-1"}},
		"rpc":     {rpc.Attributes, map[string]string{"db.system.name": "postgresql", "db.stored_procedure.name": "search_hybrid", "http.response.status_code": "403", "error.type": "403"}},
		"chat": {chat.Attributes, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt", "gen_ai.response.model": "gpt-2030",
			"gen_ai.response.finish_reasons": "stop", "gen_ai.usage.input_tokens": "40", "gen_ai.usage.output_tokens": "2"}},
		"refused": {collector.Await(t, "embeddings small").Attributes, map[string]string{"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small", "error.type": "provider"}},
		"batch":   {batch.Attributes, map[string]string{"tasklens.batch.sources": "5", "tasklens.batch.done": "3", "error.type": "provider"}},
		"tree":    {[]string{request.ParentID, rpc.ParentID, chat.ParentID, batch.ParentID}, []string{"b7ad6b7169203331", request.ID, request.ID, ""}},
		"failed":  {[]bool{request.Failed, rpc.Failed, chat.Failed, batch.Failed}, []bool{true, true, false, true}},
		"carried": {carried, []string{"00-" + request.TraceID + "-" + rpc.ID + "-01", "00-" + request.TraceID + "-" + chat.ID + "-01", ""}},
		"count":   {len(collector.Spans()), 5},
		"service": {request.Service, "tasklens"},
	} {
		if differ := cmp.Diff(got[1], got[0]); differ != "" {
			t.Errorf("%s (-want +got):\n%s", name, differ)
		}
	}
	if strings.Contains(collector.Sent(), "a text") {
		t.Error("the exported spans contain the request's text")
	}
}

// A collector that is down is logged once.
func TestCollectorUnavailable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	told := make(chan error, 10)
	o := observe.New()
	if err := o.Export(t.Context(), func(_ string, err error) { told <- err }); err != nil {
		t.Fatal(err)
	}
	for range 1000 { // more than one batch
		_, endBatch := o.Batch(t.Context(), 1)
		endBatch(1, nil)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := o.Close(ctx); len(told) > 1 || err == nil && len(told) == 0 {
		t.Errorf("%d warnings were logged, Close returned %v", len(told), err)
	}
}
