package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/offline"
)

// freePort returns an address that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// run runs a verb with these settings. stop stops it and waits.
func run(t *testing.T, verb func(context.Context, []string) error, settings map[string]string) (stop func()) {
	t.Helper()
	setEnvironment(t, settings)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- verb(ctx, nil) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// startService runs the service, and returns its URL and how to stop it.
func startService(t *testing.T, settings map[string]string) (url string, stop func()) {
	t.Helper()
	address := freePort(t)
	_, port, _ := net.SplitHostPort(address)
	stop = run(t, serve, with(settings, "PORT", port))
	fetch(t, http.MethodGet, "http://"+address+"/healthz", "", http.StatusOK)
	return "http://" + address, stop
}

// fetch retries until the address responds, and returns the body of a response with this status.
func fetch(t *testing.T, method, url, body string, want int) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Request-Id", "the-request")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			continue
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != want {
			t.Fatalf("%s %s: %d, %v: %s", method, url, response.StatusCode, err, text)
		}
		return string(text)
	}
}

// watchedModel is the offline model. traces returns the trace IDs of its requests by the last part
// of their path.
func watchedModel(t *testing.T) (address string, traces func() map[string]string) {
	t.Helper()
	var mutex sync.Mutex
	seen := map[string]string{}
	model := offline.NewHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		seen[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]] = r.Header.Get("traceparent")
		mutex.Unlock()
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", func() map[string]string {
		mutex.Lock()
		defer mutex.Unlock()
		return maps.Clone(seen)
	}
}

// A running service reports a worker batch and a question in metrics, and in traces without any
// text.
func TestServiceIsObserved(t *testing.T) {
	owner, settings := startStack(t)
	collector := testbed.StartCollector(t)
	modelURL, traces := watchedModel(t)
	// With MATCH_THRESHOLD the model is not measured meanwhile, which would call it too.
	url, stop := startService(t, with(settings, "OPENAI_BASE_URL", modelURL, "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL, "OTEL_SERVICE_NAME", "lens", "MATCH_THRESHOLD", "0"))
	if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name, description) values ('P', 'Zwetschgenknoedel', 'Zwetschgenknoedel are boiled')`); err != nil {
		t.Fatal(err)
	}
	await(t, owner, 1, `select count(*) from public.chunks`)
	await(t, owner, 0, `select count(*) from tasklens.embedding_jobs`)
	fetch(t, http.MethodGet, url+"/readyz", "", http.StatusOK)
	fetch(t, http.MethodPost, url+"/api/query", `{"question": "What of Zwetschgenknoedel?", "match_threshold": 0}`, http.StatusOK)
	fetch(t, http.MethodPost, url+"/api/query", `{"question": "What of Zwetschgenknoedel?", "match_threshold": 0}`, http.StatusOK)
	text := fetch(t, http.MethodGet, url+"/metrics", "", http.StatusOK)
	for _, line := range []string{
		`tasklens_http_request_duration_seconds_count{method="POST",route="/api/query",status="2xx"} 2`,
		`tasklens_rpc_duration_seconds_count{function="retrieve_chunks",status="2xx"} 1`,
		// A batch has four calls, with that which claims it.
		`tasklens_rpc_duration_seconds_count{function="read_sources",status="2xx"} 1`, `tasklens_rpc_duration_seconds_count{function="store_chunks",status="2xx"} 1`,
		`tasklens_rpc_duration_seconds_count{function="finish_embedding_jobs",status="2xx"} 1`,
		`tasklens_model_call_duration_seconds_count{model="offline-chat",operation="chat",outcome="ok"} 1`,
		`tasklens_model_call_duration_seconds_count{model="words-1",operation="embeddings",outcome="ok"} 2`,
		`tasklens_model_circuit_open{operation="chat"} 0`,
		`tasklens_cache_requests_total{kind="query",result="hit"} 1`, `tasklens_cache_requests_total{kind="query",result="miss"} 1`,
		`tasklens_worker_sources_total{outcome="done"} 1`, `tasklens_worker_batch_duration_seconds_count{outcome="ok"} 1`,
		"tasklens_queue_up 1", `tasklens_queue_sources{state="pending"} 0`, "tasklens_chunks 1", "tasklens_sources_without_chunks 0",
	} {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("%s is missing from the metrics", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	stop() // exports the remaining spans
	request, batch := collector.Await(t, "POST /api/query"), collector.Await(t, "embed batch")
	chat, rpc := collector.Await(t, "chat offline-chat"), collector.Await(t, "rpc retrieve_chunks")
	for _, span := range []testbed.Span{chat, rpc} {
		if span.TraceID != request.TraceID || span.ParentID == "" || request.Attributes["tasklens.request_id"] != "the-request" || span.Service != "lens" {
			t.Errorf("span %+v is not a child in the trace of %+v", span, request)
		}
	}
	if chat.Attributes["gen_ai.operation.name"] != "chat" || chat.Attributes["gen_ai.usage.input_tokens"] == "" {
		t.Errorf("the chat span is %+v", chat)
	}
	if batch.Attributes["tasklens.batch.done"] != "1" || batch.TraceID == request.TraceID {
		t.Errorf("the batch span is %+v", batch)
	}
	if want := "00-" + chat.TraceID + "-" + chat.ID + "-01"; traces()["completions"] != want {
		t.Errorf("the model received traceparent %q, want %q", traces()["completions"], want)
	}
	polled := 0
	for _, span := range collector.Spans() {
		if span.Name == "rpc claim_embedding_jobs" {
			polled++
		}
	}
	if polled > 0 {
		t.Errorf("%d polls of the queue are traced", polled)
	}
	if sent := collector.Sent(); strings.Contains(sent, "Zwetschgenknoedel") || strings.Contains(sent, settings["SUPABASE_SECRET_KEY"]) {
		t.Error("a trace contains user text or a key")
	}
}

// If the settings name a metrics port, metrics are served only there. A worker serves them nowhere
// else. Both embed what is written.
func TestMetricsElsewhere(t *testing.T) {
	owner, settings := startStack(t)
	for name, verb := range map[string]func(context.Context, []string) error{"serve": serve, "worker": work} {
		t.Run(name, func(t *testing.T) {
			service, metrics := freePort(t), freePort(t)
			_, port, _ := net.SplitHostPort(service)
			stop := run(t, verb, with(settings, "PORT", port, "METRICS_ADDRESS", metrics))
			if text := fetch(t, http.MethodGet, "http://"+metrics+"/metrics", "", http.StatusOK); !strings.Contains(text, "tasklens_queue_up 1") {
				t.Errorf("metrics are %s", text)
			}
			fetch(t, http.MethodGet, "http://"+metrics+"/api/projects", "", http.StatusNotFound)
			if name == "serve" {
				fetch(t, http.MethodGet, "http://"+service+"/metrics", "", http.StatusNotFound)
			}
			if _, err := owner.Exec(t.Context(), `insert into public.projects (key, name) values ($1, 'Pumps')`, name); err != nil {
				t.Fatal(err)
			}
			await(t, owner, 1, fmt.Sprintf(`select count(*) from public.chunks join public.projects using (project_id) where key = '%s'`, name))
			stop()
			if _, err := net.Dial("tcp4", metrics); err == nil {
				t.Error("the metrics port is still open")
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		url, _ := startService(t, with(settings, "METRICS_ADDRESS", "off"))
		fetch(t, http.MethodGet, url+"/metrics", "", http.StatusNotFound)
	})
}

// A provider whose circuit breaker is open is reported as missing and in the metrics.
func TestModelThatFailsIsMissing(t *testing.T) {
	_, settings := startStack(t)
	url, _ := startService(t, with(settings, "OPENAI_BASE_URL", "http://"+freePort(t)+"/v1", "WORKER", "off"))
	fetch(t, http.MethodGet, url+"/readyz", "", http.StatusOK)
	for i := range circuitFailures {
		fetch(t, http.MethodPost, url+"/api/hybrid-search", fmt.Sprintf(`{"query": "pumps %d"}`, i), http.StatusOK) // answered by keyword search
	}
	// Calls of the model go on, with retries, after the searches that began them.
	until(t, "the service stays ready", func() bool {
		response, err := http.Get(url + "/readyz")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusServiceUnavailable
	})
	if text := fetch(t, http.MethodGet, url+"/readyz", "", http.StatusServiceUnavailable); text != `{"missing":["model: embeddings"],"status":"not ready"}` {
		t.Errorf("missing is %s", text)
	}
	// With WORKER=off no job is claimed.
	if text := fetch(t, http.MethodGet, url+"/metrics", "", http.StatusOK); !strings.Contains(text, `tasklens_model_circuit_open{operation="embeddings"} 1`) ||
		!strings.Contains(text, `tasklens_queries_total{kind="search",outcome="degraded"} 5`) || strings.Contains(text, "claim_embedding_jobs") {
		t.Errorf("the metrics are %s", text)
	}
}
