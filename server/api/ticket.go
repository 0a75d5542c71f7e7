package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

type ticketRequest struct {
	Ticket string `path:"ticket" maxlen:"255" pattern:"^[^\\x00]+$" example:"TX-400" doc:"Its key, without regard to case, or its id (digits alone)."`
	search.Part
}

// ticket gives a whole ticket.
func (a *API) ticket(c *fiber.Ctx, request *ticketRequest) (ticket search.Ticket, err error) {
	if request.Ticket == "similar" { // POST /api/tickets/similar
		c.Set(fiber.HeaderAllow, fiber.MethodPost)
		return ticket, fiber.ErrMethodNotAllowed
	}
	db, err := a.database(c)
	if err != nil {
		return ticket, err
	}
	return search.ReadTicket(c.UserContext(), db, request.Ticket, request.Part)
}
