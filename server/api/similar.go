package api

import (
	"context"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/search"
)

type similarRequest struct {
	Ticket  string         `path:"ticket_id" maxlen:"255" pattern:"^[^\\x00]+$" example:"TX-400" doc:"Its key, case ignored, or its id."`
	Limit   int            `query:"limit" min:"1" max:"100" default:"5"`
	Filters filter.Filters `query:"filters" default:"" example:"\"{\\\"open\\\":true}\"" doc:"Narrows what it is compared with: a JSON object (~Filters~)."`
}

// similarTickets finds likely duplicates of a ticket.
func (a *API) similarTickets(ctx context.Context, who *caller, request *similarRequest) (similar list[search.Similar], err error) {
	now, err := a.present(ctx, who, answer.Tickets, request.Filters)
	if err != nil {
		return similar, err
	}
	return listed(a.Comparer.ToTicket(ctx, who.db, now.Model, search.ReadName(request.Ticket), request.Filters, request.Limit))
}

// similarToDraft finds likely duplicates of a draft.
func (a *API) similarToDraft(ctx context.Context, who *caller, draft *search.Draft) (similar list[search.Similar], err error) {
	now, err := a.present(ctx, who, answer.Tickets, draft.Filters)
	if err != nil {
		return similar, err
	}
	draft.Filters = narrowed{ProjectID: draft.ProjectID}.within(draft.Filters)
	return listed(a.Comparer.ToDraft(ctx, who.db, now.Model, *draft))
}
