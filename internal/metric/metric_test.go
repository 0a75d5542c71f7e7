package metric_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/metric"
)

// scrape returns the metrics as Prometheus reads them.
func scrape(t *testing.T, m *metric.Metrics) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
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

func TestRequests(t *testing.T) {
	t.Parallel()
	m := metric.New()
	end := m.Request()
	wantLines(t, scrape(t, m), "tasklens_http_requests_in_flight 1",
		// An alert on an increase needs the counter to exist at zero.
		`tasklens_limits_hit_total{limit="rate"} 0`, `tasklens_limits_hit_total{limit="in_flight"} 0`,
		`tasklens_records_lost_total{kind="query_log"} 0`, `tasklens_records_lost_total{kind="retrievals"} 0`)
	end("GET", "/api/tickets/:ticket_id/similar", 200)
	m.Request()("POST", "/api/query", 503)
	m.Request()("POST", "/api/query", 0)
	m.Query("query", "answered", false)
	m.Query("query", "abstained", true)
	m.UnknownCitations(2)
	m.LimitHit(metric.LimitRate)
	m.Lost(metric.LostQueryLog, 7)
	m.Batch(5)(3, "provider")
	text := scrape(t, m)
	wantLines(t, text, "tasklens_http_requests_in_flight 0",
		`tasklens_http_request_duration_seconds_count{method="GET",route="/api/tickets/:ticket_id/similar",status="2xx"} 1`,
		`tasklens_http_request_duration_seconds_count{method="POST",route="/api/query",status="5xx"} 1`,
		`tasklens_http_request_duration_seconds_count{method="POST",route="/api/query",status="none"} 1`,
		`tasklens_queries_total{kind="query",outcome="answered"} 1`, `tasklens_low_similarity_total{kind="query"} 1`, "tasklens_unknown_citations_total 2",
		`tasklens_limits_hit_total{limit="rate"} 1`, `tasklens_records_lost_total{kind="query_log"} 7`,
		`tasklens_worker_batch_duration_seconds_count{outcome="provider"} 1`,
		`tasklens_worker_sources_total{outcome="done"} 3`, `tasklens_worker_sources_total{outcome="left"} 2`)
	for _, other := range []string{"go_goroutines ", "process_resident_memory_bytes "} {
		if !strings.Contains(text, "\n"+other) {
			t.Errorf("the metrics lack %s", other)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestUpstreams(t *testing.T) {
	t.Parallel()
	m := metric.New()
	gone := errors.New("gone")
	transport := m.RPC(roundTrip(func(r *http.Request) (*http.Response, error) {
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
	m.Model("chat", "gpt")("ok", 40, 2)
	m.Model("chat", "gpt")("provider", 0, 0)
	m.Circuits(func() []string { return []string{"chat"} }, "chat", "embeddings")
	m.Cached("query", "hit")
	m.Cached("query", "hit")
	m.Cached("query", "shared")
	wantLines(t, scrape(t, m),
		`tasklens_rpc_duration_seconds_count{function="list_projects",status="none"} 1`,
		`tasklens_rpc_duration_seconds_count{function="search_hybrid",status="4xx"} 1`,
		`tasklens_model_call_duration_seconds_count{model="gpt",operation="chat",outcome="ok"} 1`,
		`tasklens_model_call_duration_seconds_count{model="gpt",operation="chat",outcome="provider"} 1`,
		`tasklens_model_tokens_total{direction="input",model="gpt",operation="chat"} 40`,
		`tasklens_model_tokens_total{direction="output",model="gpt",operation="chat"} 2`,
		`tasklens_model_circuit_open{operation="chat"} 1`, `tasklens_model_circuit_open{operation="embeddings"} 0`,
		`tasklens_cache_requests_total{kind="query",result="hit"} 2`, `tasklens_cache_requests_total{kind="query",result="shared"} 1`)
}

// The number of model labels is bounded.
func TestModelsAreBounded(t *testing.T) {
	t.Parallel()
	m := metric.New()
	for i := range 1000 {
		m.Model("embeddings", fmt.Sprintf("model-%d", i))("ok", 1, 0)
	}
	text := scrape(t, m)
	if n := strings.Count(text, "tasklens_model_call_duration_seconds_count{"); n != 17 {
		t.Errorf("there are %d model labels, want 17", n)
	}
	wantLines(t, text, `tasklens_model_tokens_total{direction="input",model="other",operation="embeddings"} 984`)
}

// Concurrent scrapes share one query of the queue. It is repeated when its result is stale, and a
// failure is reported as tasklens_queue_up 0.
func TestQueue(t *testing.T) {
	t.Parallel()
	m := metric.New()
	var mutex sync.Mutex
	asked, failure := 0, error(nil)
	every := time.Hour
	m.Queue(func(ctx context.Context) (metric.Queue, error) {
		mutex.Lock()
		defer mutex.Unlock()
		asked++
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the queue is queried without a deadline")
		}
		return metric.Queue{Pending: 12, Running: 4, Failed: 3, Dead: 2, OldestPendingSeconds: 0.5, Chunks: 15050, SourcesWithoutChunks: 7}, failure
	}, every, time.Second)
	var looking sync.WaitGroup
	for range 3 { // the maximum number of concurrent scrapes
		looking.Go(func() {
			wantLines(t, scrape(t, m), "tasklens_queue_up 1",
				`tasklens_queue_sources{state="pending"} 12`, `tasklens_queue_sources{state="running"} 4`, `tasklens_queue_sources{state="failed"} 3`,
				`tasklens_queue_sources{state="dead"} 2`, "tasklens_queue_oldest_pending_seconds 0.5", "tasklens_chunks 15050", "tasklens_sources_without_chunks 7")
		})
	}
	looking.Wait()
	if asked != 1 {
		t.Errorf("the queue was queried %d times, want once", asked)
	}
	away := metric.New()
	away.Queue(func(ctx context.Context) (metric.Queue, error) {
		<-ctx.Done()
		return metric.Queue{}, ctx.Err()
	}, 0, time.Millisecond)
	text := scrape(t, away)
	wantLines(t, text, "tasklens_queue_up 0")
	if strings.Contains(text, "tasklens_queue_sources") {
		t.Error("queue metrics are exported although the queue could not be read")
	}
}

// A scrape is rejected while too many wait.
func TestScrapesAreBounded(t *testing.T) {
	t.Parallel()
	m := metric.New()
	going := make(chan struct{})
	m.Queue(func(context.Context) (metric.Queue, error) {
		<-going
		return metric.Queue{}, nil
	}, time.Hour, time.Minute)
	shown := make(chan int, 5)
	for range 5 {
		go func() {
			recorder := httptest.NewRecorder()
			m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			shown <- recorder.Code
		}()
	}
	if status := <-shown; status != http.StatusServiceUnavailable { // four wait for the queue, the fifth is rejected
		t.Errorf("the fifth scrape got status %d, want 503", status)
	}
	close(going)
	for range 4 {
		if status := <-shown; status != http.StatusOK {
			t.Errorf("a scrape got status %d", status)
		}
	}
}

func TestNilMetrics(t *testing.T) {
	t.Parallel()
	var m *metric.Metrics
	m.Request()("GET", "/", 200)
	m.Query("query", "answered", true)
	m.UnknownCitations(1)
	m.LimitHit("rate")
	m.Lost("query_log", 1)
	m.Cached("query", "hit")
	m.Batch(1)(1, "ok")
	m.Model("chat", "gpt")("ok", 1, 1)
	next := roundTrip(nil)
	if _, same := m.RPC(next).(roundTrip); !same {
		t.Error("RPC wrapped the transport although metrics are off")
	}
}

// A metric that panics when collected is omitted. The others are exported, including the count of
// panics.
func TestPanicOmitsOneMetric(t *testing.T) {
	t.Parallel()
	m := metric.New()
	m.Queue(func(context.Context) (metric.Queue, error) { panic("broken") }, time.Hour, time.Second)
	m.Circuits(func() []string { return nil }, "chat")
	for range 2 { // the second scrape exports the first one's count
		text := scrape(t, m)
		if strings.Contains(text, "tasklens_queue_up") || !strings.Contains(text, `tasklens_model_circuit_open{operation="chat"} 0`) {
			t.Errorf("the metrics are %s", text)
		}
	}
	if text := scrape(t, m); strings.Contains(text, "\ntasklens_panics_total 0\n") || !strings.Contains(text, "\ntasklens_panics_total ") {
		t.Errorf("the count of panics is not exported:\n%s", text)
	}
}
