package trace

import (
	"net/http"
	"path"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"
)

// RPC is a transport to PostgREST: each call of a function is a span, until its answer begins, and carries the trace on.
// What is called outside of any trace, such as an idle worker's look at the queue, is none.
func (t *Tracer) RPC(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return calls{t, next}
}

type calls struct {
	tracer *Tracer
	next   http.RoundTripper
}

func (c calls) RoundTrip(request *http.Request) (*http.Response, error) {
	if ID(request.Context()) == "" {
		return c.next.RoundTrip(request)
	}
	function := path.Base(request.URL.Path)
	ctx, span := c.tracer.tracer.Start(request.Context(), "rpc "+function, api.WithSpanKind(api.SpanKindClient), api.WithAttributes(
		attribute.String("db.system.name", "postgresql"), attribute.String("db.stored_procedure.name", function)))
	defer span.End()
	response, err := c.next.RoundTrip(c.tracer.carry(request.WithContext(ctx)))
	switch {
	case err != nil:
		failed(span, "unreachable")
	default:
		span.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
		if response.StatusCode >= http.StatusMultipleChoices {
			failed(span, strconv.Itoa(response.StatusCode))
		}
	}
	return response, err
}

// Carry is a transport that carries the trace on, without spans of its own.
func (t *Tracer) Carry(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return carrying{t, next}
}

type carrying struct {
	tracer *Tracer
	next   http.RoundTripper
}

func (c carrying) RoundTrip(request *http.Request) (*http.Response, error) {
	return c.next.RoundTrip(c.tracer.carry(request))
}

// carry gives a copy, because a transport may not change what it is given.
func (t *Tracer) carry(request *http.Request) *http.Request {
	request = request.Clone(request.Context())
	t.propagator.Inject(request.Context(), propagation.HeaderCarrier(request.Header))
	return request
}
