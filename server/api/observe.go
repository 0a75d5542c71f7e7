package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"

	"tasklens/internal/fault"
)

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
