package api

import (
	"context"

	"tasklens/internal/search"
)

type ticketRequest struct {
	Ticket string `path:"ticket" maxlen:"255" pattern:"^[^\\x00]+$" example:"TX-400" doc:"Its key, case ignored, or its id."`
	search.Part
}

// ticket gives a whole ticket.
func (a *API) ticket(ctx context.Context, who *caller, request *ticketRequest) (search.Ticket, error) {
	return search.ReadTicket(ctx, who.db, search.ReadName(request.Ticket), request.Part)
}
