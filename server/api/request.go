package api

import (
	"context"
	"regexp"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"tasklens/internal/rescue"
)

const headerRequestID = "X-Request-Id"

// saneID is the form of a client's request id that is safe in logs and headers.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// saneToken is the form of a bearer token (RFC 6750, section 2.1). Anything else could not be
// forwarded in a header.
var saneToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// serving is what the handlers of one request share, in its context.
type serving struct {
	id       string
	caller   *known // nil if AUTH=off or the route is open
	measured measured
	slot     slot
}

type servingKey struct{}

// servingOf returns what handlers share, or nothing outside of a request.
func servingOf(ctx context.Context) *serving {
	if s, is := ctx.Value(servingKey{}).(*serving); is {
		return s
	}
	return &serving{}
}

// RequestID returns the request id of a context, or "".
func RequestID(ctx context.Context) string { return servingOf(ctx).id }

// takeID uses the client's request id if it is sane, otherwise generates one, and returns it in
// the response.
func takeID(c *fiber.Ctx) string {
	id := c.Get(headerRequestID)
	if !saneID.MatchString(id) {
		id = uuid.NewString()
	}
	c.Set(headerRequestID, id)
	return id
}

// identify gives every request an id, a context with a deadline, and a log line when it ends.
func (a *API) identify(c *fiber.Ctx) error {
	s := &serving{id: takeID(c)}
	a.dress(c)
	base := a.base
	if v := visitOf(c); v != nil {
		base = v.ctx // within its time, as a part of its trace
	}
	ctx, cancel := context.WithTimeout(context.WithValue(base, servingKey{}, s), a.RequestTimeout)
	defer cancel()
	ctx = a.measure(ctx, c, &s.measured)
	c.SetUserContext(ctx)
	started := time.Now()
	err := c.Next()
	route := routeOf(c, err)
	if err != nil {
		// Handled here rather than by Fiber, so that the log line has the status.
		err = a.problem(c, err)
	}
	s.measured.answered(c, route)
	a.Log.DebugContext(ctx, "request", "method", c.Method(), "path", c.Path(),
		"status", c.Response().StatusCode(), "duration", time.Since(started))
	return err
}

// recoverPanic turns a panic into an internal error.
func (a *API) recoverPanic(c *fiber.Ctx) error { return rescue.Do(c.Next) }
