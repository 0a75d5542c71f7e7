package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

func (a *API) projects(c *fiber.Ctx, _ *nothing) (all list[search.Project], err error) {
	db, err := a.database(c)
	if err != nil {
		return all, err
	}
	all.Results, err = search.Projects(c.UserContext(), db)
	return all, err
}

func (a *API) statuses(c *fiber.Ctx, _ *nothing) (all list[search.Status], err error) {
	db, err := a.database(c)
	if err != nil {
		return all, err
	}
	all.Results, err = search.Statuses(c.UserContext(), db)
	return all, err
}
