package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/postgrest"
)

// Missing names what a part of the service lacks to do its work; nothing while it lacks nothing. Names are fixed: they go to
// whoever asks, and tell no addresses.
type Missing func(ctx context.Context) []string

// alive says that the program runs.
func (a *API) alive(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "ok"}) }

// ready says whether requests can be answered, and else what is missing. Anybody may ask, as often as they like: so it is
// found out once for all who ask at the same moment.
func (a *API) ready(c *fiber.Ctx) error {
	found, err, _ := a.readiness.Do("", func() (any, error) { return a.missing(c.UserContext()), nil })
	if err != nil {
		return err
	}
	if missing := found.([]string); len(missing) > 0 {
		return c.Status(http.StatusServiceUnavailable).JSON(fiber.Map{"status": "not ready", "missing": missing})
	}
	return c.JSON(fiber.Map{"status": "ready"})
}

// missing is all that is.
func (a *API) missing(ctx context.Context) []string {
	missing := a.missingInDatabase(ctx)
	for _, part := range a.Missing {
		missing = append(missing, part(ctx)...)
	}
	return append(missing, a.missingKeys(ctx)...)
}

// missingInDatabase is the database itself, or migrations by their versions.
func (a *API) missingInDatabase(ctx context.Context) (missing []string) {
	var applied []string
	err := a.Database.AsService().Call(ctx, "list_migrations", nil, &applied)
	// Where even this function does not exist, nothing tells which migrations do.
	var answer *postgrest.Error
	if unknown := errors.As(err, &answer) && answer.Code == postgrest.UnknownFunction; err != nil && !unknown {
		a.Log.WarnContext(ctx, "not ready", "error", err)
		return []string{"database"}
	}
	for _, version := range a.migrations {
		if !slices.Contains(applied, version) {
			missing = append(missing, "migration "+version)
		}
	}
	return missing
}
