package api

import (
	"math"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

const (
	defaultComments  = 20
	maxCommentOffset = 1_000_000
	maxTextOffset    = 1_000_000_000 // characters; Postgres stores no longer text
)

// ticket gives a whole ticket.
func (a *API) ticket(c *fiber.Ctx) error {
	if c.Params("ticket") == "similar" { // POST /api/tickets/similar
		c.Set(fiber.HeaderAllow, fiber.MethodPost)
		return fiber.ErrMethodNotAllowed
	}
	p := parameters{c: c}
	keyOrID := p.pathText("ticket")
	part := search.Part{
		Limit: p.integer("limit", defaultComments, 1, maxLimit), Offset: p.integer("offset", 0, 0, maxCommentOffset),
		CommentID: p.integer("comment", 0, 1, math.MaxInt64), From: p.integer("from", 0, 0, maxTextOffset),
	}
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	ticket, err := search.ReadTicket(c.UserContext(), db, keyOrID, part)
	if err != nil {
		return err
	}
	return c.JSON(ticket)
}
