package load

import (
	"encoding/json"
	"time"

	"tasklens/internal/ticketfile"
)

type ticketRow struct {
	Key            string              `json:"key"`
	ProjectKey     string              `json:"project_key"`
	Status         string              `json:"status"`
	StatusCategory *string             `json:"status_category"`
	Name           string              `json:"name"`
	Description    *string             `json:"description"`
	CreatedAt      *time.Time          `json:"created_at"`
	UpdatedAt      *time.Time          `json:"updated_at"`
	Notes          []noteRow           `json:"notes"`
	Assignee       field[string]       `json:"assignee,omitzero"`
	Reporter       field[string]       `json:"reporter,omitzero"`
	Type           field[string]       `json:"ticket_type,omitzero"`
	Priority       field[string]       `json:"priority,omitzero"`
	DueDate        field[string]       `json:"due_date,omitzero"`
	ResolvedAt     field[time.Time]    `json:"resolved_at,omitzero"`
	Labels         field[[]string]     `json:"labels,omitzero"`
	Comments       field[[]commentRow] `json:"comments,omitzero"`
	links          []ticketfile.Link   // nil: unknown
}

type noteRow struct {
	Status    *string    `json:"status"`
	Note      string     `json:"note"`
	CreatedAt *time.Time `json:"created_at"`
}

type commentRow struct {
	Key       string     `json:"key"`
	Author    *string    `json:"author"`
	Body      string     `json:"body"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
}

// field is omitted from the row if the file does not have it, which leaves the stored value
// unchanged. null clears it.
type field[T any] struct {
	given bool
	value *T
}

// IsZero reports whether the file does not have the field.
func (f field[T]) IsZero() bool { return !f.given }

// MarshalJSON writes the value, or null.
func (f field[T]) MarshalJSON() ([]byte, error) { return json.Marshal(f.value) }

func textField(text *string) field[string] {
	if text == nil {
		return field[string]{}
	}
	return field[string]{true, optional(*text)}
}

func newTicketRow(t ticketfile.Ticket) ticketRow {
	row := ticketRow{
		Key: t.Key, ProjectKey: t.ProjectKey, Status: t.Status, StatusCategory: optional(t.StatusCategory), Name: t.Name,
		Description: optional(t.Description), CreatedAt: moment(t.CreatedAt), UpdatedAt: moment(t.UpdatedAt), Notes: []noteRow{},
		Assignee: textField(t.Assignee), Reporter: textField(t.Reporter), Type: textField(t.Type), Priority: textField(t.Priority),
		DueDate: textField(t.DueDate), links: t.Links,
	}
	if t.ResolvedAt != nil {
		row.ResolvedAt = field[time.Time]{true, moment(*t.ResolvedAt)}
	}
	if t.Labels != nil {
		row.Labels = field[[]string]{true, &t.Labels}
	}
	for _, note := range t.Notes {
		row.Notes = append(row.Notes, noteRow{Status: optional(note.Status), Note: note.Text, CreatedAt: moment(note.CreatedAt)})
	}
	if t.Comments != nil {
		comments := make([]commentRow, 0, len(t.Comments))
		for _, c := range t.Comments {
			comments = append(comments, commentRow{
				Key: c.Key, Author: optional(c.Author), Body: c.Text, CreatedAt: moment(c.CreatedAt), UpdatedAt: moment(c.UpdatedAt),
			})
		}
		row.Comments = field[[]commentRow]{true, &comments}
	}
	return row
}

// bytes returns the length of the row's texts.
func (r ticketRow) bytes() int {
	size := len(r.Name)
	if r.Description != nil {
		size += len(*r.Description)
	}
	for _, note := range r.Notes {
		size += len(note.Note)
	}
	if r.Comments.given {
		for _, comment := range *r.Comments.value {
			size += len(comment.Body)
		}
	}
	return size
}

// optional returns nil for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
