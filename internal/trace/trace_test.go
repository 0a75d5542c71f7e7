package trace_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/testbed"
	"tasklens/internal/trace"
)

type idKey struct{}

// start returns a tracer with its own collector. Tests that use it cannot be parallel, because the
// exporter reads the environment.
func start(t *testing.T) (*trace.Tracer, *testbed.Collector) {
	t.Helper()
	collector := testbed.StartCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	tracer, err := trace.New(t.Context(), trace.Options{
		RequestID: func(ctx context.Context) string { id, _ := ctx.Value(idKey{}).(string); return id },
		Warn:      func(message string, err error) { t.Errorf("%s: %v", message, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return tracer, collector
}

func end(t *testing.T, tracer *trace.Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// The spans of a request form a tree under the caller's span, all carry the request ID, and
// upstreams get the trace headers.
func TestRequestSpans(t *testing.T) {
	tracer, collector := start(t)
	var carried []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Header.Get("traceparent"))
		w.WriteHeader(http.StatusForbidden)
	}))
	defer upstream.Close()
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := context.WithValue(t.Context(), idKey{}, "request-1")
	ctx, endRequest := tracer.Request(ctx, "POST", http.Header{"Traceparent": {caller}}.Get)
	if trace.ID(ctx) != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the trace id is %q", trace.ID(ctx))
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
	send(ctx, tracer.RPC(http.DefaultTransport), "/rest/v1/rpc/search_hybrid")
	asking, endModel := tracer.Model(ctx, "chat", "gpt")
	send(asking, tracer.Carry(http.DefaultTransport), "/v1/chat/completions")
	endModel(trace.Asked{Model: "gpt-2030", Finish: "stop", TokensIn: 40, TokensOut: 2})
	_, endRefused := tracer.Model(ctx, "embeddings", "small")
	endRefused(trace.Asked{Failure: "provider"})
	endRequest("/api/query", 500)
	send(t.Context(), tracer.RPC(http.DefaultTransport), "/rest/v1/rpc/claim_embedding_jobs") // outside any trace
	end(t, tracer)

	request := collector.Await(t, "POST /api/query")
	rpc := collector.Await(t, "rpc search_hybrid")
	chat := collector.Await(t, "chat gpt")
	for name, got := range map[string][2]any{
		"request": {request.Attributes, map[string]string{"http.request.method": "POST", "http.route": "/api/query", "http.response.status_code": "500", "error.type": "Internal Server Error", "tasklens.request_id": "request-1"}},
		"rpc":     {rpc.Attributes, map[string]string{"db.system.name": "postgresql", "db.stored_procedure.name": "search_hybrid", "http.response.status_code": "403", "error.type": "403", "tasklens.request_id": "request-1"}},
		"chat": {chat.Attributes, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt", "gen_ai.response.model": "gpt-2030",
			"gen_ai.response.finish_reasons": "stop", "gen_ai.usage.input_tokens": "40", "gen_ai.usage.output_tokens": "2", "tasklens.request_id": "request-1"}},
		"refused": {collector.Await(t, "embeddings small").Attributes, map[string]string{"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai", "gen_ai.request.model": "small",
			"error.type": "provider", "tasklens.request_id": "request-1"}},
		"tree":    {[]string{request.ParentID, rpc.ParentID, chat.ParentID}, []string{"b7ad6b7169203331", request.ID, request.ID}},
		"failed":  {[]bool{request.Failed, rpc.Failed, chat.Failed}, []bool{true, true, false}},
		"carried": {carried, []string{"00-" + request.TraceID + "-" + rpc.ID + "-01", "00-" + request.TraceID + "-" + chat.ID + "-01", ""}},
		"count":   {len(collector.Spans()), 4},
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

func TestBatchSpan(t *testing.T) {
	tracer, collector := start(t)
	ctx, endBatch := tracer.Batch(t.Context(), 5)
	if trace.ID(ctx) == "" {
		t.Error("a batch has no trace id")
	}
	endBatch(3, "provider")
	end(t, tracer)
	batch := collector.Await(t, "embed batch")
	if want := map[string]string{"tasklens.batch.sources": "5", "tasklens.batch.done": "3", "error.type": "provider"}; !cmp.Equal(want, batch.Attributes) || !batch.Failed {
		t.Errorf("the batch's span is %+v", batch)
	}
}

// A collector that is down is logged once.
func TestCollectorUnavailable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	told := make(chan error, 10)
	tracer, err := trace.New(t.Context(), trace.Options{RequestID: func(context.Context) string { return "" }, Warn: func(_ string, err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 { // more than one batch
		_, endBatch := tracer.Batch(t.Context(), 1)
		endBatch(1, "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = tracer.Close(ctx)
	if len(told) > 1 || err == nil && len(told) == 0 {
		t.Errorf("%d warnings were logged, Close returned %v", len(told), err)
	}
}

// A nil tracer creates no spans and adds no headers.
func TestNilTracer(t *testing.T) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		t.Fatal("OTEL_EXPORTER_OTLP_ENDPOINT is set in the environment of this test")
	}
	var tracer *trace.Tracer
	ctx, endRequest := tracer.Request(t.Context(), "GET", nil)
	endRequest("/", 200)
	ctx, endModel := tracer.Model(ctx, "chat", "gpt")
	endModel(trace.Asked{})
	ctx, endBatch := tracer.Batch(ctx, 1)
	endBatch(1, "")
	if ctx != t.Context() || tracer.RPC(http.DefaultTransport) != http.DefaultTransport || tracer.Carry(http.DefaultTransport) != http.DefaultTransport {
		t.Error("a nil tracer changed the context or wrapped a transport")
	}
	if err := errors.Join(tracer.Close(ctx)); err != nil {
		t.Error(err)
	}
}
