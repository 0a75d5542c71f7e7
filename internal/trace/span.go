package trace

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"
)

// Request starts the span of an HTTP request, as a child of the span in its headers if there is
// one. Call end once, with the route's template (never a path) and the status.
func (t *Tracer) Request(ctx context.Context, method string, header func(name string) string) (_ context.Context, end func(route string, status int)) {
	if t == nil {
		return ctx, func(string, int) {}
	}
	ctx = t.propagator.Extract(ctx, incoming(header))
	ctx, span := t.tracer.Start(ctx, method, api.WithSpanKind(api.SpanKindServer), api.WithAttributes(attribute.String("http.request.method", method)))
	return ctx, func(route string, status int) {
		span.SetName(method + " " + route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			failed(span, http.StatusText(status))
		}
		span.End()
	}
}

// Asked is the outcome of a model call.
type Asked struct {
	Model               string // that answered; "" where the provider does not say
	Finish              string // why a chat ended; "" where it does not say, or for embeddings
	TokensIn, TokensOut int    // 0 if the provider does not report them
	Failure             string // why it failed, in a fixed word; "" where it did not
}

// Model starts the span of a model call, named by OpenTelemetry's GenAI conventions. operation is
// chat or embeddings.
func (t *Tracer) Model(ctx context.Context, operation, model string) (_ context.Context, end func(Asked)) {
	if t == nil {
		return ctx, func(Asked) {}
	}
	ctx, span := t.tracer.Start(ctx, operation+" "+model, api.WithSpanKind(api.SpanKindClient), api.WithAttributes(
		attribute.String("gen_ai.operation.name", operation), attribute.String("gen_ai.provider.name", "openai"), attribute.String("gen_ai.request.model", model)))
	return ctx, func(a Asked) {
		if a.Model != "" {
			span.SetAttributes(attribute.String("gen_ai.response.model", a.Model))
		}
		if a.Finish != "" {
			span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{a.Finish}))
		}
		if a.TokensIn > 0 {
			span.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", a.TokensIn))
		}
		if a.TokensOut > 0 {
			span.SetAttributes(attribute.Int("gen_ai.usage.output_tokens", a.TokensOut))
		}
		if a.Failure != "" {
			failed(span, a.Failure)
		}
		span.End()
	}
}

// Batch starts the span of a worker batch. Call end once, with the number of sources done and a
// fixed word for why the rest failed, if any did.
func (t *Tracer) Batch(ctx context.Context, sources int) (_ context.Context, end func(done int, failure string)) {
	if t == nil {
		return ctx, func(int, string) {}
	}
	ctx, span := t.tracer.Start(ctx, "embed batch", api.WithSpanKind(api.SpanKindConsumer), api.WithAttributes(attribute.Int("tasklens.batch.sources", sources)))
	return ctx, func(done int, failure string) {
		span.SetAttributes(attribute.Int("tasklens.batch.done", done))
		if failure != "" {
			failed(span, failure)
		}
		span.End()
	}
}

func failed(span api.Span, why string) {
	span.SetAttributes(attribute.String("error.type", why))
	span.SetStatus(codes.Error, why)
}

// incoming reads trace headers from a request. It cannot set them.
type incoming func(name string) string

var _ propagation.TextMapCarrier = incoming(nil)

func (h incoming) Get(name string) string { return h(name) }
func (incoming) Set(string, string)       {}
func (incoming) Keys() []string           { return nil }
