package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"

	"tasklens/internal/fault"
	"tasklens/internal/querylog"
)

// unmatched is the route label of requests that match none: paths are chosen by clients, and
// labels must stay few.
const unmatched = "unmatched"

// routeOf returns the route template of a request, as metrics, traces and the log name it.
func routeOf(c *fiber.Ctx, err error) string {
	var refused *fiber.Error
	if errors.As(err, &refused) && (refused.Code == http.StatusNotFound || refused.Code == http.StatusMethodNotAllowed) {
		return unmatched // only the router says so in these words
	}
	if RequestID(c.UserContext()) == "" {
		return unmatched // it could not be read, so that no router has seen it
	}
	return c.Route().Path
}

// measured measures a request until its response, or the stream that follows, has ended.
type measured struct {
	count     func(method, route string, status int)
	span      func(route string, status int)
	streaming bool
}

// measure starts measuring a request. The returned context carries its trace.
func (a *API) measure(ctx context.Context, c *fiber.Ctx, m *measured) context.Context {
	m.count = a.Metrics.Request()
	ctx, m.span = a.Tracer.Request(ctx, c.Method(), func(name string) string { return c.Get(name) })
	return ctx
}

// answered ends the measurement, unless a stream has begun.
func (m *measured) answered(c *fiber.Ctx, route string) {
	if !m.streaming {
		m.count(c.Method(), route, c.Response().StatusCode())
		m.span(route, c.Response().StatusCode())
	}
}

// stream extends the measurement until ended is called with the status of the stream's final
// problem, or 200.
func stream(c *fiber.Ctx) (ended func(status int)) {
	m := &servingOf(c.UserContext()).measured
	m.streaming = true
	method, route := c.Method(), routeOf(c, nil)
	return func(status int) {
		m.count(method, route, status)
		m.span(route, status)
	}
}

// tellEntry counts an entry and, if there is a query log, stores it.
func (a *API) tellEntry(entry querylog.Entry) {
	a.Metrics.Query(entry.Kind, entry.Outcome, entry.LowSimilarity)
	a.Metrics.UnknownCitations(entry.Unknown)
	a.QueryLog.Add(entry)
}

// metrics is /metrics.
func (a *API) metrics(c *fiber.Ctx) error {
	if err := adaptor.HTTPHandler(a.Metrics.Handler())(c); err != nil {
		return err
	}
	switch c.Response().StatusCode() {
	case fiber.StatusOK:
		return nil
	case fiber.StatusServiceUnavailable:
		return fault.New(fault.Unavailable, "Too many concurrent requests for the metrics.").Because(fault.Busy)
	}
	return fmt.Errorf("gather metrics: %s", c.Response().Body())
}
