// Package trace creates OpenTelemetry spans and exports them over OTLP. It owns the names of spans
// and attributes (OpenTelemetry's conventions, including GenAI) and trace propagation from callers
// to upstreams (W3C Trace Context). No span contains a question, prompt, text, path or key. The
// package does not know how requests are answered or models called.
package trace

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// warnEvery is the minimum time between two warnings about spans that could not be sent.
const warnEvery = time.Minute

// Options configure a Tracer.
type Options struct {
	RequestID func(context.Context) string // of the request that a context belongs to, or ""
	Warn      func(message string, err error)
}

// Tracer creates spans. It is safe for concurrent use. A nil Tracer does nothing and costs nothing.
type Tracer struct {
	provider   *sdk.TracerProvider
	tracer     api.Tracer
	propagator propagation.TraceContext
}

// New starts a tracer. The exporter, the sampler and the resource read their own environment
// variables (OTEL_EXPORTER_OTLP_…, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES). Call Close to flush and stop it.
func New(ctx context.Context, o Options) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make an OTLP exporter: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "tasklens")), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the service for traces: %w", err)
	}
	// The error handler is the library's only global state that we set.
	otel.SetErrorHandler(&failures{warn: o.Warn})
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(requestIDs{o.RequestID}), sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("tasklens")}, nil
}

// Close flushes the remaining spans until the context ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// ID returns the trace ID of a context, as 32 hexadecimal digits, or "" if there is none.
func ID(ctx context.Context) string {
	if span := api.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}

// requestIDs adds the request's ID to every span.
type requestIDs struct {
	of func(context.Context) string
}

func (r requestIDs) OnStart(ctx context.Context, span sdk.ReadWriteSpan) {
	if id := r.of(ctx); id != "" {
		span.SetAttributes(attribute.String("tasklens.request_id", id))
	}
}

func (requestIDs) OnEnd(sdk.ReadOnlySpan)           {}
func (requestIDs) Shutdown(context.Context) error   { return nil }
func (requestIDs) ForceFlush(context.Context) error { return nil }

// failures logs the library's errors, at a limited rate while a collector is down.
type failures struct {
	warn  func(message string, err error)
	mutex sync.Mutex
	told  time.Time
}

func (f *failures) Handle(err error) {
	f.mutex.Lock()
	now := time.Now()
	again := now.Sub(f.told) >= warnEvery
	if again {
		f.told = now
	}
	f.mutex.Unlock()
	if again {
		f.warn("spans could not be sent", err)
	}
}
