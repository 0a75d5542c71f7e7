package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

const (
	defaultComments  = 20
	maxCommentOffset = 1_000_000
)

// ticket gives a whole ticket.
func (a *API) ticket(c *fiber.Ctx) error {
	if c.Params("ticket") == "similar" { // POST /api/tickets/similar
		c.Set(fiber.HeaderAllow, fiber.MethodPost)
		return fiber.ErrMethodNotAllowed
	}
	p := parameters{c: c}
	keyOrID := p.pathText("ticket")
	limit, offset := p.integer("limit", defaultComments, 1, maxLimit), p.integer("offset", 0, 0, maxCommentOffset)
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	ticket, err := search.ReadTicket(c.UserContext(), db, keyOrID, limit, offset)
	if err != nil {
		return err
	}
	return c.JSON(ticket)
}
