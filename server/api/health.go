package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/postgrest"
)

// alive says that the program runs.
func (a *API) alive(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "ok"}) }

// ready says whether requests can be answered, and else what is missing.
func (a *API) ready(c *fiber.Ctx) error {
	var applied []string
	err := a.Database.AsService().Call(c.UserContext(), "list_migrations", nil, &applied)
	// Where even this function does not exist, nothing tells which migrations do.
	var answer *postgrest.Error
	if unknown := errors.As(err, &answer) && answer.Code == postgrest.UnknownFunction; err != nil && !unknown {
		a.Log.WarnContext(c.UserContext(), "not ready", "request_id", RequestID(c.UserContext()), "error", err)
		return c.Status(http.StatusServiceUnavailable).JSON(fiber.Map{"status": "not ready", "missing": []string{"database"}})
	}
	missing := []string{}
	for _, version := range a.migrations {
		if !slices.Contains(applied, version) {
			missing = append(missing, "migration "+version)
		}
	}
	missing = append(missing, a.missingKeys(c.UserContext())...)
	if len(missing) > 0 {
		return c.Status(http.StatusServiceUnavailable).JSON(fiber.Map{"status": "not ready", "missing": missing})
	}
	return c.JSON(fiber.Map{"status": "ready"})
}
