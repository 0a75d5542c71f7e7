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
func (a *API) similarTickets(ctx context.Context, who *caller, request *similarRequest) (list[search.Similar], error) {
	return a.similarToOne(ctx, who, search.Compared{Name: search.ReadName(request.Ticket)}, request.Filters, request.Limit)
}

// similarToDraft finds likely duplicates of a draft.
func (a *API) similarToDraft(ctx context.Context, who *caller, draft *search.Draft) (list[search.Similar], error) {
	return a.similarToOne(ctx, who, search.Compared{Text: &draft.Text, ProjectID: draft.ProjectID}, draft.Filters, draft.Limit)
}

func (a *API) similarToOne(ctx context.Context, who *caller, one search.Compared, filters filter.Filters, limit int) (similar list[search.Similar], err error) {
	now, err := a.present(ctx, who, answer.Tickets)
	if err != nil {
		return similar, err
	}
	compared, err := a.Comparer.Compare(ctx, who.db, now.Model, []search.Compared{one}, filters, limit)
	if err != nil {
		return similar, err
	}
	return listed(compared[0].Results, compared[0].Err)
}
