package trace

import (
	"net/http"
	"path"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"
)

// roundTrip is a function as an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// RPC wraps a transport to PostgREST. Each call is a span that ends when the response headers
// arrive, and carries the trace headers. Calls outside a trace get no span, such as an idle
// worker's poll of the queue.
func (t *Tracer) RPC(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if ID(request.Context()) == "" {
			return next.RoundTrip(request)
		}
		function := path.Base(request.URL.Path)
		ctx, span := t.tracer.Start(request.Context(), "rpc "+function, api.WithSpanKind(api.SpanKindClient), api.WithAttributes(
			attribute.String("db.system.name", "postgresql"), attribute.String("db.stored_procedure.name", function)))
		defer span.End()
		response, err := next.RoundTrip(t.carry(request.WithContext(ctx)))
		if err != nil {
			failed(span, "unreachable")
			return nil, err
		}
		span.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
		if response.StatusCode >= http.StatusMultipleChoices {
			failed(span, strconv.Itoa(response.StatusCode))
		}
		return response, nil
	})
}

// Carry wraps a transport and adds the trace headers, without spans.
func (t *Tracer) Carry(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return roundTrip(func(request *http.Request) (*http.Response, error) { return next.RoundTrip(t.carry(request)) })
}

// carry returns a copy, because a RoundTripper must not modify its request.
func (t *Tracer) carry(request *http.Request) *http.Request {
	request = request.Clone(request.Context())
	t.propagator.Inject(request.Context(), propagation.HeaderCarrier(request.Header))
	return request
}
