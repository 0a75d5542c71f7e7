package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

const maxKeyCharacters = 255

// ticket reads one ticket whole.
func (a *API) ticket(c *fiber.Ctx) error {
	p := parameters{c: c}
	ticket := p.pathText("ticket")
	checkLength(p.wrong, "ticket", &ticket, maxKeyCharacters)
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	found, err := search.GetTicket(c.UserContext(), db, ticket)
	if err != nil {
		return err
	}
	return c.JSON(found)
}
