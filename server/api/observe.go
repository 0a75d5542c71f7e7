package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"

	"tasklens/internal/fault"
	"tasklens/internal/querylog"
)

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
