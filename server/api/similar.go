package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/filter"
	"tasklens/internal/postgrest"
	"tasklens/internal/search"
)

type similarRequest struct {
	TicketID int64          `path:"ticket_id" min:"1" example:"123"`
	Limit    int            `query:"limit" min:"1" max:"100" default:"5" doc:"The most results."`
	Filters  filter.Filters `query:"filters" default:"" example:"\"{\\\"open\\\":true}\"" doc:"Narrows what it is compared with. A JSON object as in the body of a search (~Filters~)."`
}

// similarTickets finds likely duplicates of a ticket.
func (a *API) similarTickets(c *fiber.Ctx, request *similarRequest) (similar list[search.Similar], err error) {
	db, model, err := a.comparing(c, request.Filters)
	if err != nil {
		return similar, err
	}
	similar.Results, err = a.Comparer.ToTicket(c.UserContext(), db, model, request.TicketID, request.Filters, request.Limit)
	return similar, err
}

// similarToDraft finds likely duplicates of a draft.
func (a *API) similarToDraft(c *fiber.Ctx, draft *search.Draft) (similar list[search.Similar], err error) {
	db, model, err := a.comparing(c, draft.Filters)
	if err != nil {
		return similar, err
	}
	similar.Results, err = a.Comparer.ToText(c.UserContext(), db, model, *draft)
	return similar, err
}

// comparing returns what a comparison needs: the caller's database, and the model of the
// embeddings.
func (a *API) comparing(c *fiber.Ctx, filters filter.Filters) (db *postgrest.Session, model string, err error) {
	if err := checkMe(c, filters); err != nil {
		return nil, "", err
	}
	if db, err = a.database(c); err != nil {
		return nil, "", err
	}
	model, err = a.Serving.Use(c.UserContext())
	return db, model, err
}
