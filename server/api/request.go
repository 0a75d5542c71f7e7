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

// saneID is a request id that may be taken over from a request: it goes into logs and headers.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// saneToken is the form of a bearer token (RFC 6750, section 2.1): anything else could not be
// passed on in a header.
var saneToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

type requestIDKey struct{}

// RequestID is the id of the request that a context belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// takeID takes the id of a request over when it is sane, else makes one, and sends it back.
func takeID(c *fiber.Ctx) string {
	id := c.Get(headerRequestID)
	if !saneID.MatchString(id) {
		id = uuid.NewString()
	}
	c.Set(headerRequestID, id)
	return id
}

// identify gives every request its id, a context with a deadline, and a line in the log when it is
// done.
func (a *API) identify(c *fiber.Ctx) error {
	id := takeID(c)
	a.dress(c)
	base := a.base
	if v := visitOf(c); v != nil {
		base = v.ctx // within its time, as a part of its trace
	}
	ctx, cancel := context.WithTimeout(context.WithValue(base, requestIDKey{}, id), a.RequestTimeout)
	defer cancel()
	ctx, seen := a.observe(ctx, c)
	c.SetUserContext(ctx)
	started := time.Now()
	err := c.Next()
	route := routeOf(c, err)
	if err != nil {
		// Here, and not in Fiber after us, so that the log line has the status.
		err = a.problem(c, err)
	}
	seen.answered(c, route)
	a.Log.DebugContext(ctx, "request", "method", c.Method(), "path", c.Path(),
		"status", c.Response().StatusCode(), "duration", time.Since(started))
	return err
}

// recoverPanic makes a panic an ordinary internal error.
func (a *API) recoverPanic(c *fiber.Ctx) error { return rescue.Do(c.Next) }
