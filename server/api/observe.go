package api

import (
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
)

// metrics is /metrics.
func (a *API) metrics(c *fiber.Ctx) error { return adaptor.HTTPHandler(a.Observer.Handler())(c) }
