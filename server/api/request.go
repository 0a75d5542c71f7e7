package api

import (
	"context"
	"log/slog"
	"regexp"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"tasklens/internal/rescue"
	"tasklens/server/observe"
)

const headerRequestID = "X-Request-Id"

// saneID is the form of a client's request id that is safe in logs and headers.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// saneToken is the form of a bearer token (RFC 6750, section 2.1). Anything else could not be
// forwarded in a header.
var saneToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// unmatched is the route of requests that reach none: paths are chosen by clients, and labels must
// stay few.
const unmatched = "unmatched"

// exchange is what logs, metrics and traces know of a request. It is in the request's context. It
// has no path, which may contain search terms.
type exchange struct {
	id, method, route string
	stream            bool               // the response is one that ends later, and calls end
	ends              []func(status int) // called when the response has ended
}

type exchangeKey struct{}

// exchangeOf returns the request of a context, or an empty one outside of any.
func exchangeOf(ctx context.Context) *exchange {
	if r, is := ctx.Value(exchangeKey{}).(*exchange); is {
		return r
	}
	return &exchange{}
}

// RequestID returns the request id of a context, or "".
func RequestID(ctx context.Context) string { return exchangeOf(ctx).id }

func (r *exchange) end(status int) {
	for _, end := range r.ends {
		end(status)
	}
}

// begin gives a request an id, its client's if that is sane, in its context and its response, and
// the headers of every response.
func (a *API) begin(c *fiber.Ctx) *exchange {
	r := &exchange{id: c.Get(headerRequestID), method: c.Method(), route: unmatched}
	if !saneID.MatchString(r.id) {
		r.id = uuid.NewString()
	}
	c.Set(headerRequestID, r.id)
	a.setHeaders(c)
	c.SetUserContext(context.WithValue(a.base, exchangeKey{}, r))
	return r
}

// identify gives every request an id, a context with a deadline, measurements, and a log line when
// it ends.
func (a *API) identify(c *fiber.Ctx) error {
	r := a.begin(c)
	ctx, cancel := context.WithTimeout(c.UserContext(), a.RequestTimeout)
	ctx, end := a.Observer.Request(ctx, r.id, r.method, c.GetReqHeaders())
	r.ends = append(r.ends, func(status int) {
		end(r.method, r.route, status)
		cancel()
	})
	c.SetUserContext(ctx)
	started := time.Now()
	err := rescue.Do(c.Next)
	if err != nil {
		// Handled here rather than by Fiber, so that the log line has the status.
		err = a.problem(c, err)
	}
	status := c.Response().StatusCode()
	if !r.stream {
		r.end(status)
	}
	a.Log.DebugContext(ctx, "request", "method", r.method, "path", c.Path(), "status", status, "duration", time.Since(started))
	return err
}

// WithRequest makes a handler add the request id and the trace id of the context to each line.
func WithRequest(inner slog.Handler) slog.Handler { return requestHandler{inner} }

type requestHandler struct{ slog.Handler }

func (h requestHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if id := observe.TraceID(ctx); id != "" {
		record.AddAttrs(slog.String("trace_id", id))
	}
	return h.Handler.Handle(ctx, record)
}

func (h requestHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attributes)}
}

func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}
