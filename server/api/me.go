package api

import "github.com/gofiber/fiber/v2"

// me returns the caller's highest role, so that a frontend offers only permitted actions.
func (a *API) me(c *fiber.Ctx) error {
	if err := noParameters(c); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	var role string
	if err := db.Call(c.UserContext(), "caller_role", nil, &role); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"role": role})
}
