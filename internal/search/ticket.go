package search

import (
	"context"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rpc"
)

// Ticket is a whole ticket with one page of its comments. Long texts are cut: the database bounds
// what one reading returns.
type Ticket struct {
	_ struct{} `schema:"Ticket"`

	TicketID       int64   `json:"ticket_id" min:"1" example:"65"`
	TicketKey      string  `json:"ticket_key" example:"TX-400"`
	TicketName     string  `json:"ticket_name" example:"Customer charged twice when a payment is retried"`
	ProjectID      int64   `json:"project_id" min:"1" example:"6"`
	ProjectKey     string  `json:"project_key" example:"TX"`
	ProjectName    string  `json:"project_name" example:"Transactions"`
	Status         string  `json:"status" example:"Done"`
	Description    *string `json:"description" example:"The customer pressed Pay again after a timeout."`
	DescriptionCut *int    `json:"description_truncated_at" min:"0" doc:"Where the rest begins, in characters; null if the text is whole."`
	Fields
	StatusChanges []StatusChange  `json:"status_changes" max:"100" doc:"The last ones, oldest first."`
	CommentCount  int64           `json:"comment_count" min:"0" example:"1" doc:"All, not only those of this page."`
	Comments      []TicketComment `json:"comments" max:"100" doc:"A page of its comments, oldest first."`
}

// StatusChange is one change of a ticket's status.
type StatusChange struct {
	Status    *string   `json:"status" example:"Done"`
	Note      *string   `json:"note" example:"The key is kept for all attempts."`
	Cut       *int      `json:"truncated_at" min:"0" doc:"Where the rest begins, in characters; null if the text is whole."`
	CreatedAt time.Time `json:"created_at"`
}

// TicketComment is a comment with its text.
type TicketComment struct {
	Comment
	Body      string    `json:"body" example:"Patch is up."`
	BodyBytes int64     `json:"body_bytes" min:"0" example:"12" doc:"The length of the whole body."`
	Cut       *int      `json:"truncated_at" min:"0" doc:"Where the rest begins, in characters; null if the text is whole."`
	UpdatedAt time.Time `json:"updated_at"`
}

// Part chooses what of a ticket is read: a page of its comments or, if CommentID is not 0, that
// comment. Postgres stores no text beyond the greatest From.
type Part struct {
	Limit     int   `query:"limit" min:"1" max:"100" default:"20"`
	Offset    int   `query:"offset" min:"0" max:"1000000" default:"0" doc:"Comments to skip."`
	CommentID int64 `query:"comment" min:"1" default:"" doc:"Returns only this comment; not with ~offset~."`
	From      int   `query:"from" min:"0" max:"1000000000" default:"0" doc:"Characters to skip of the comment, or of the description without ~comment~."`
	Visible   bool  `query:"visible" default:"false" doc:"Whether texts are as readers see them: without HTML comments, hidden elements and inline data. Else they are as stored."`
}

// Name names a ticket, by one of the two.
type Name struct {
	TicketID  *uint64 `json:"-"`
	TicketKey *string `json:"ticket_key" length:"255"` // case-insensitive
}

// ReadName reads a ticket's key, or its id if it is digits only.
func ReadName(keyOrID string) Name {
	if id, err := strconv.ParseUint(keyOrID, 10, 63); err == nil {
		return Name{TicketID: &id}
	}
	key := strings.TrimSpace(keyOrID)
	return Name{TicketKey: &key}
}

// errNoTicket: the ticket does not exist, or the caller may not see it.
func errNoTicket() error { return fault.New(fault.NotFound, "There is no such ticket.") }

// ReadTicket reads a ticket. fault.NotFound if the caller sees no such ticket, or it has no such
// comment.
func ReadTicket(ctx context.Context, db rpc.Caller, name Name, part Part) (Ticket, error) {
	arguments := map[string]any{
		"ticket_id": name.TicketID, "ticket_key": name.TicketKey,
		"comment_limit": part.Limit, "comment_offset": part.Offset, "text_offset": part.From, "visible": part.Visible,
	}
	if part.CommentID != 0 {
		arguments["comment_id"] = part.CommentID
	}
	rows, err := rpc.All[struct {
		Ticket
		Fields Fields `json:"fields"`
	}](ctx, db, "get_ticket", arguments)
	switch {
	case err != nil:
		return Ticket{}, err
	case len(rows) == 0:
		return Ticket{}, errNoTicket()
	case part.CommentID != 0 && len(rows[0].Comments) == 0:
		return Ticket{}, fault.New(fault.NotFound, "The ticket has no such comment.")
	}
	ticket := rows[0].Ticket
	ticket.Fields = rows[0].Fields
	return ticket, nil
}
