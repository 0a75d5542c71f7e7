package search

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/fault"
)

// Ticket is a whole ticket with one page of its comments. Long texts are cut: the database bounds
// what one reading returns.
type Ticket struct {
	TicketID       int64           `json:"ticket_id"`
	TicketKey      string          `json:"ticket_key"`
	TicketName     string          `json:"ticket_name"`
	ProjectID      int64           `json:"project_id"`
	ProjectKey     string          `json:"project_key"`
	ProjectName    string          `json:"project_name"`
	Status         string          `json:"status"`
	StatusCategory string          `json:"status_category"` // to_do, in_progress or done
	Description    *string         `json:"description"`
	DescriptionCut *int            `json:"description_truncated_at"` // where the rest begins, in characters; nil if it is whole
	Assignee       *string         `json:"assignee"`
	Reporter       *string         `json:"reporter"`
	Type           *string         `json:"type"`
	Priority       *string         `json:"priority"`
	Labels         []string        `json:"labels"`
	DueDate        *string         `json:"due_date"` // 2025-03-01
	ResolvedAt     *time.Time      `json:"resolved_at"`
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	Links          []Link          `json:"links"`          // at most 20
	StatusChanges  []StatusChange  `json:"status_changes"` // the last 100, oldest first
	CommentCount   int64           `json:"comment_count"`
	Comments       []TicketComment `json:"comments"` // a page, oldest first
}

// StatusChange is one change of a ticket's status.
type StatusChange struct {
	Status    *string   `json:"status"`
	Note      *string   `json:"note"`
	Cut       *int      `json:"truncated_at"`
	CreatedAt time.Time `json:"created_at"`
}

// TicketComment is a comment with its text.
type TicketComment struct {
	Comment
	Body      string    `json:"body"`
	BodyBytes int64     `json:"body_bytes"`   // of the whole body
	Cut       *int      `json:"truncated_at"` // where the rest begins, in characters; nil if the body is whole
	UpdatedAt time.Time `json:"updated_at"`
}

// UnmarshalJSON reads a row of get_ticket, whose column for the type has another name, as in every
// database function.
func (t *Ticket) UnmarshalJSON(text []byte) error {
	type plain Ticket
	row := struct {
		*plain
		Type *string `json:"ticket_type"`
	}{plain: (*plain)(t)}
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	t.Type = row.Type
	if t.Links == nil {
		t.Links = []Link{}
	}
	return nil
}

// Part chooses what of a ticket is read: a page of its comments or, if CommentID is not 0, that
// comment. From is the number of characters skipped of that comment, else of the description.
type Part struct {
	Limit, Offset, From int
	CommentID           int
}

// ReadTicket reads a ticket by its key (case-insensitive) or its id (digits only). fault.NotFound
// if the caller sees no such ticket, or it has no such comment.
func ReadTicket(ctx context.Context, db Database, keyOrID string, part Part) (Ticket, error) {
	arguments := map[string]any{"comment_limit": part.Limit, "comment_offset": part.Offset, "text_offset": part.From}
	if part.CommentID != 0 {
		arguments["comment_id"] = part.CommentID
	}
	if id, err := strconv.ParseUint(keyOrID, 10, 63); err == nil {
		arguments["ticket_id"] = id
	} else {
		arguments["ticket_key"] = strings.TrimSpace(keyOrID)
	}
	var rows []Ticket
	if err := db.Call(ctx, "get_ticket", arguments, &rows); err != nil {
		return Ticket{}, fmt.Errorf("read a ticket: %w", err)
	}
	if len(rows) == 0 {
		return Ticket{}, fault.New(fault.NotFound, "There is no such ticket.")
	}
	if part.CommentID != 0 && len(rows[0].Comments) == 0 {
		return Ticket{}, fault.New(fault.NotFound, "The ticket has no such comment.")
	}
	return rows[0], nil
}
