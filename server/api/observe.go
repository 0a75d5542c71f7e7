package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/metric"
	"tasklens/internal/querylog"
)

// unmatched stands for the route of what matches none: a path is the client's choice, and there are
// any number of them.
const unmatched = "unmatched"

// routeOf is the template of the route that a request was for, as metrics, traces and the log name
// it.
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

// observed is a request as metrics and traces see it: until it is answered or, where it is answered
// by a stream, until that ends.
type observed struct {
	count     func(method, route string, status int)
	span      func(route string, status int)
	streaming bool
}

type observedKey struct{}

// observe begins to measure a request. What belongs to it under the context that it gives belongs
// to its trace.
func (a *API) observe(ctx context.Context, c *fiber.Ctx) (context.Context, *observed) {
	o := &observed{count: a.Metrics.Request()}
	ctx, o.span = a.Tracer.Request(ctx, c.Method(), func(name string) string { return c.Get(name) })
	return context.WithValue(ctx, observedKey{}, o), o
}

// answered ends the measuring, unless a stream has begun.
func (o *observed) answered(c *fiber.Ctx, route string) {
	if !o.streaming {
		o.count(c.Method(), route, c.Response().StatusCode())
		o.span(route, c.Response().StatusCode())
	}
}

// stream has a request measured until ended is called, with the status of the problem that the
// stream ended with, or 200.
func stream(c *fiber.Ctx) (ended func(status int)) {
	o := c.UserContext().Value(observedKey{}).(*observed)
	o.streaming = true
	method, route := c.Method(), routeOf(c, nil)
	return func(status int) {
		o.count(method, route, status)
		o.span(route, status)
	}
}

// tellEntry has an entry counted, and kept where there is a query log.
func (a *API) tellEntry(entry querylog.Entry) {
	a.Metrics.Query(entry.Kind, entry.Outcome, entry.LowSimilarity)
	a.Metrics.UnknownCitations(entry.Unknown)
	a.QueryLog.Add(entry)
}

// metrics is /metrics.
func (a *API) metrics(c *fiber.Ctx) error {
	body, err := a.Metrics.Show()
	if errors.Is(err, metric.ErrBusy) {
		return fault.Wrap(fault.Unavailable, "Too many ask for the metrics at once.", err).Because(fault.Busy)
	} else if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, metric.ContentType)
	return c.Send(body)
}
