package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

func (a *API) projects(c *fiber.Ctx) error {
	if err := noParameters(c); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	projects, err := search.Projects(c.UserContext(), db)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"results": projects})
}

func (a *API) statuses(c *fiber.Ctx) error {
	if err := noParameters(c); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	statuses, err := search.Statuses(c.UserContext(), db)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"results": statuses})
}
