package observe

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"tasklens/internal/chat"
)

// Request observes an HTTP request from now on. Its span is a child of the span in its headers if
// there is one. Call the returned function once, with the method, the route's template (never a
// path) and the status sent to the client.
func (o *Observer) Request(ctx context.Context, id, method string, header http.Header) (context.Context, func(method, route string, status int)) {
	begun := time.Now()
	o.inFlight.Inc()
	ctx, span := o.start(o.propagator.Extract(ctx, propagation.HeaderCarrier(header)), method, trace.SpanKindServer, attribute.String("http.request.method", method), attribute.String("tasklens.request_id", id))
	return ctx, func(method, route string, status int) {
		o.inFlight.Dec()
		o.requests.WithLabelValues(route, method, class(status)).Observe(time.Since(begun).Seconds())
		span.SetName(method + " " + route)
		failure := ""
		if status >= http.StatusInternalServerError {
			failure = http.StatusText(status)
		}
		end(span, failure, attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	}
}

// roundTrip is a function as an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// RPC wraps a transport to PostgREST and observes the functions called, up to their response
// headers. Calls outside a trace get no span, such as an idle worker's poll of the queue.
func (o *Observer) RPC(next http.RoundTripper) http.RoundTripper {
	next = o.Carry(next)
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		begun, function, span := time.Now(), path.Base(request.URL.Path), trace.SpanFromContext(context.Background())
		if ctx := request.Context(); TraceID(ctx) != "" {
			ctx, span = o.start(ctx, "rpc "+function, trace.SpanKindClient, attribute.String("db.system.name", "postgresql"), attribute.String("db.stored_procedure.name", function))
			request = request.WithContext(ctx)
		}
		response, err := next.RoundTrip(request)
		status, failure := 0, "unreachable"
		if err == nil {
			status, failure = response.StatusCode, ""
		}
		if status >= http.StatusMultipleChoices {
			failure = strconv.Itoa(status)
		}
		o.calls.WithLabelValues(function, class(status)).Observe(time.Since(begun).Seconds())
		end(span, failure, attribute.Int("http.response.status_code", status))
		return response, err
	})
}

// Carry wraps a transport and adds the trace headers.
func (o *Observer) Carry(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if TraceID(request.Context()) != "" {
			request = request.Clone(request.Context()) // a RoundTripper must not modify its request
			o.propagator.Inject(request.Context(), propagation.HeaderCarrier(request.Header))
		}
		return next.RoundTrip(request)
	})
}

// Model observes a model call, retries included. See openai.Watch.
func (o *Observer) Model(ctx context.Context, operation, model string) (context.Context, func(chat.Completion, error)) {
	begun := time.Now()
	ctx, span := o.start(ctx, operation+" "+model, trace.SpanKindClient,
		attribute.String("gen_ai.operation.name", operation), attribute.String("gen_ai.provider.name", "openai"), attribute.String("gen_ai.request.model", model))
	return ctx, func(said chat.Completion, err error) {
		o.asked.WithLabelValues(operation, model, cmp.Or(wordOf(err), "ok")).Observe(time.Since(begun).Seconds())
		o.tokens.WithLabelValues(operation, model, "input").Add(float64(said.TokensIn))
		o.tokens.WithLabelValues(operation, model, "output").Add(float64(said.TokensOut))
		var known []attribute.KeyValue // what the provider reports
		if said.Model != "" {
			known = append(known, attribute.String("gen_ai.response.model", said.Model))
		}
		if said.Finish != "" {
			known = append(known, attribute.StringSlice("gen_ai.response.finish_reasons", []string{said.Finish}))
		}
		if said.TokensIn > 0 {
			known = append(known, attribute.Int("gen_ai.usage.input_tokens", said.TokensIn))
		}
		if said.TokensOut > 0 {
			known = append(known, attribute.Int("gen_ai.usage.output_tokens", said.TokensOut))
		}
		end(span, wordOf(err), known...)
	}
}

// Batch observes a worker batch. The returned function takes the number of sources done, and why
// the rest failed.
func (o *Observer) Batch(ctx context.Context, sources int) (context.Context, func(done int, err error)) {
	begun := time.Now()
	ctx, span := o.start(ctx, "embed batch", trace.SpanKindConsumer, attribute.Int("tasklens.batch.sources", sources))
	return ctx, func(done int, err error) {
		o.batches.WithLabelValues(cmp.Or(wordOf(err), "ok")).Observe(time.Since(begun).Seconds())
		o.sources.WithLabelValues("done").Add(float64(done))
		o.sources.WithLabelValues("left").Add(float64(sources - done))
		end(span, wordOf(err), attribute.Int("tasklens.batch.done", done))
	}
}
