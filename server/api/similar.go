package api

import (
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/search"
)

const (
	defaultSimilar     = 5
	maxDraftCharacters = 100_000
)

type similarResponse struct {
	Results []search.Similar `json:"results"`
}

// similarTickets finds likely duplicates of a ticket.
func (a *API) similarTickets(c *fiber.Ctx) error {
	if err := noParameters(c, "limit"); err != nil {
		return err
	}
	var fields []fault.Field
	// Digits alone, as openapi.yaml says: no sign, nothing beyond 64 bits.
	ticketID, err := strconv.ParseUint(c.Params("ticket_id"), 10, 63)
	if err != nil || ticketID < 1 {
		fields = append(fields, fault.Field{Name: "ticket_id", Message: "must be a positive integer"})
	}
	limit := defaultSimilar
	if given := c.Context().QueryArgs().PeekMulti("limit"); len(given) > 0 {
		// Of several limits there is no telling which is meant.
		if limit, err = strconv.Atoi(string(given[0])); err != nil || len(given) > 1 || limit < 1 || limit > maxLimit {
			fields = append(fields, fault.Field{Name: "limit", Message: fmt.Sprintf("must be an integer from 1 to %d", maxLimit)})
		}
	}
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	results, err := a.Comparer.ToTicket(c.UserContext(), db, int64(ticketID), limit)
	if err != nil {
		return err
	}
	return c.JSON(similarResponse{Results: results})
}

type draftRequest struct {
	Text      string `json:"text"`
	ProjectID *int64 `json:"project_id"`
	Limit     *int   `json:"limit"`
}

func (r *draftRequest) check(wrong report) {
	checkLength(wrong, "text", &r.Text, maxDraftCharacters)
	checkID(wrong, "project_id", r.ProjectID)
	checkRange(wrong, "limit", r.Limit, 1, maxLimit)
}

// similarToDraft finds likely duplicates of a ticket that is not filed yet.
func (a *API) similarToDraft(c *fiber.Ctx) error {
	var request draftRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	results, err := a.Comparer.ToText(c.UserContext(), db, request.Text, request.ProjectID, or(request.Limit, defaultSimilar))
	if err != nil {
		return err
	}
	return c.JSON(similarResponse{Results: results})
}
