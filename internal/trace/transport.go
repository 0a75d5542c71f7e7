package trace

import (
	"net/http"
	"path"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"
)

// roundTrip is a transport that is one function.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// RPC is a transport to PostgREST: each call of a function is a span, until its answer begins, and carries the trace on.
// What is called outside of any trace, such as an idle worker's look at the queue, is none.
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

// Carry is a transport that carries the trace on, without spans of its own.
func (t *Tracer) Carry(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return roundTrip(func(request *http.Request) (*http.Response, error) { return next.RoundTrip(t.carry(request)) })
}

// carry gives a copy, because a transport may not change what it is given.
func (t *Tracer) carry(request *http.Request) *http.Request {
	request = request.Clone(request.Context())
	t.propagator.Inject(request.Context(), propagation.HeaderCarrier(request.Header))
	return request
}
