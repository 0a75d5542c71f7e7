// Package trace makes OpenTelemetry spans of what the service does and sends them by OTLP. It owns the names of spans and
// attributes (OpenTelemetry's conventions, those for GenAI among them), what is taken over from callers and passed on to
// upstreams (W3C Trace Context), and that no span holds a question, a prompt, a text, a path or a key. It must not know how
// a request is answered or a model asked: it is told.
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

// warnEvery is how often at most it is told that spans could not be sent.
const warnEvery = time.Minute

// Options are what a tracer has to know.
type Options struct {
	RequestID func(context.Context) string // of the request that a context belongs to, or ""
	Warn      func(message string, err error)
}

// Tracer makes spans. It is safe for concurrent use; nil makes none, and costs nothing.
type Tracer struct {
	provider   *sdk.TracerProvider
	tracer     api.Tracer
	propagator propagation.TraceContext
}

// New starts a tracer that sends to where the environment's OTEL_EXPORTER_OTLP_… say, which the exporter reads by itself,
// like the sampler (OTEL_TRACES_SAMPLER) and the resource (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES). Close ends it.
func New(ctx context.Context, o Options) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make an OTLP exporter: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "tasklens")), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the service for traces: %w", err)
	}
	// The one thing that the library keeps for the whole program: who is told of spans that were not sent.
	otel.SetErrorHandler(&failures{warn: o.Warn})
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(requestIDs{o.RequestID}), sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("tasklens")}, nil
}

// Close sends what is left until the context ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// ID is that of the trace which a context belongs to, 32 hexadecimal digits, or "".
func ID(ctx context.Context) string {
	if span := api.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}

// requestIDs puts the id of its request on every span.
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

// failures passes on what the library could not do, and not every few seconds while a collector is away.
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
