package observe

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

// warnEvery is the minimum time between two warnings about spans that could not be sent.
const warnEvery = time.Minute

// Export starts to export traces by OTLP. The exporter, the sampler and the resource read their own
// environment variables (OTEL_EXPORTER_OTLP_…, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES). Call it before anything is observed, and Close at the end.
func (o *Observer) Export(ctx context.Context, warn func(message string, err error)) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return fmt.Errorf("make an OTLP exporter: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "tasklens")), resource.WithFromEnv())
	if err != nil {
		return fmt.Errorf("describe the service for traces: %w", err)
	}
	warnings := rate.Sometimes{Interval: warnEvery}
	// The error handler is the library's only global state that we set.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		warnings.Do(func() { warn("spans could not be sent", err) })
	}))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	o.tracer, o.propagator, o.close = provider.Tracer("tasklens"), propagation.TraceContext{}, provider.Shutdown
	return nil
}

// Close exports the remaining spans until the context ends.
func (o *Observer) Close(ctx context.Context) error {
	if err := o.close(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// TraceID returns the trace ID of a context, as 32 hexadecimal digits, or "" if there is none.
func TraceID(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}

// start starts a span.
func (o *Observer) start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return o.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// end ends a span. failure is a fixed word, "" if there was none.
func end(span trace.Span, failure string, attributes ...attribute.KeyValue) {
	span.SetAttributes(attributes...)
	if failure != "" {
		span.SetAttributes(attribute.String("error.type", failure))
		span.SetStatus(codes.Error, failure)
	}
	span.End()
}
