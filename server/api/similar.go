package api

import (
	"context"

	"tasklens/internal/filter"
	"tasklens/internal/search"
)

type similarRequest struct {
	TicketID int64          `path:"ticket_id" min:"1" example:"123"`
	Limit    int            `query:"limit" min:"1" max:"100" default:"5"`
	Filters  filter.Filters `query:"filters" default:"" example:"\"{\\\"open\\\":true}\"" doc:"Narrows what it is compared with: a JSON object (~Filters~)."`
}

// similarTickets finds likely duplicates of a ticket.
func (a *API) similarTickets(ctx context.Context, who *caller, request *similarRequest) (similar list[search.Similar], err error) {
	model, err := a.Serving.Use(ctx)
	if err != nil {
		return similar, err
	}
	return listed(a.Comparer.ToTicket(ctx, who.db, model, request.TicketID, request.Filters, request.Limit))
}

// similarToDraft finds likely duplicates of a draft.
func (a *API) similarToDraft(ctx context.Context, who *caller, draft *search.Draft) (similar list[search.Similar], err error) {
	model, err := a.Serving.Use(ctx)
	if err != nil {
		return similar, err
	}
	return listed(a.Comparer.ToText(ctx, who.db, model, *draft))
}
