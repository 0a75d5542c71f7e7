package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/search"
)

const (
	defaultSimilar     = 5
	maxDraftCharacters = 100_000
	maxBatch           = 20 // tickets and drafts compared by one request
)

type similarResponse struct {
	Results []search.Similar `json:"results"`
}

// similarTickets finds likely duplicates of a ticket.
func (a *API) similarTickets(c *fiber.Ctx) error {
	p := parameters{c: c}
	ticketID, limit, filters := p.pathID("ticket_id"), p.integer("limit", defaultSimilar, 1, maxLimit), p.filters("filters")
	if err := p.err(); err != nil {
		return err
	}
	if err := checkMe(c, filters); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	model, err := a.Serving.Use(c.UserContext())
	if err != nil {
		return err
	}
	results, err := a.Comparer.ToTicket(c.UserContext(), db, model, ticketID, filters, limit)
	if err != nil {
		return err
	}
	return c.JSON(similarResponse{Results: results})
}

type draftRequest struct {
	Text      string         `json:"text"`
	ProjectID *int64         `json:"project_id"`
	Filters   *filtersMember `json:"filters"`
	Limit     *int           `json:"limit"`
}

func (r *draftRequest) check(wrong report) {
	checkLength(wrong, "text", &r.Text, maxDraftCharacters)
	checkID(wrong, "project_id", r.ProjectID)
	r.Filters.check(wrong)
	checkRange(wrong, "limit", r.Limit, 1, maxLimit)
}

// similarToDraft finds likely duplicates of a draft.
func (a *API) similarToDraft(c *fiber.Ctx) error {
	var request draftRequest
	if err := readRequest(c, &request); err != nil {
		return err
	}
	if err := checkMe(c, request.Filters.of()); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	model, err := a.Serving.Use(c.UserContext())
	if err != nil {
		return err
	}
	results, err := a.Comparer.ToText(c.UserContext(), db, model, request.Text, request.ProjectID, request.Filters.of(), or(request.Limit, defaultSimilar))
	if err != nil {
		return err
	}
	return c.JSON(similarResponse{Results: results})
}
