package search

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/fault"
)

// Ticket is a ticket whole.
type Ticket struct {
	TicketID       int64           `json:"ticket_id"`
	TicketKey      string          `json:"ticket_key"`
	TicketName     string          `json:"ticket_name"`
	ProjectID      int64           `json:"project_id"`
	ProjectKey     string          `json:"project_key"`
	ProjectName    string          `json:"project_name"`
	Status         string          `json:"status"`
	StatusCategory string          `json:"status_category"`
	Description    *string         `json:"description"`
	Assignee       *string         `json:"assignee"`
	Reporter       *string         `json:"reporter"`
	Type           *string         `json:"type"`
	Priority       *string         `json:"priority"`
	Labels         []string        `json:"labels"`
	DueDate        *string         `json:"due_date"`
	ResolvedAt     *time.Time      `json:"resolved_at"`
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	Links          []Link          `json:"links"`
	Notes          []Note          `json:"notes"`
	Comments       []TicketComment `json:"comments"`
	CommentCount   int64           `json:"comment_count"`
}

// Note is what was written when a ticket changed its status.
type Note struct {
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// TicketComment is a comment with its text.
type TicketComment struct {
	CommentID int64     `json:"comment_id"`
	Author    *string   `json:"author"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// GetTicket reads a ticket by its key or id. It returns fault.NotFound if there is none.
func GetTicket(ctx context.Context, db Database, ticket string) (Ticket, error) {
	var rows []struct {
		Ticket
		TicketType *string `json:"ticket_type"`
	}
	if err := db.Call(ctx, "get_ticket", map[string]any{"ticket": ticket}, &rows); err != nil {
		return Ticket{}, fmt.Errorf("read a ticket: %w", err)
	}
	if len(rows) == 0 {
		return Ticket{}, fault.New(fault.NotFound, "There is no such ticket.")
	}
	found := rows[0].Ticket
	found.Type = rows[0].TicketType
	if found.Links == nil {
		found.Links = []Link{}
	}
	return found, nil
}
