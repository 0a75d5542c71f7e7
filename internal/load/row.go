package load

import (
	"time"

	"tasklens/internal/ticketfile"
)

type ticketRow struct {
	Key         string     `json:"key"`
	ProjectKey  string     `json:"project_key"`
	Status      string     `json:"status"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	CreatedAt   *time.Time `json:"created_at"`
	Notes       []noteRow  `json:"notes"`
}

type noteRow struct {
	Status    *string    `json:"status"`
	Note      string     `json:"note"`
	CreatedAt *time.Time `json:"created_at"`
}

func newTicketRow(t ticketfile.Ticket) ticketRow {
	row := ticketRow{Key: t.Key, ProjectKey: t.ProjectKey, Status: t.Status, Name: t.Name, Description: optional(t.Description),
		CreatedAt: moment(t.CreatedAt), Notes: []noteRow{}}
	for _, note := range t.Notes {
		row.Notes = append(row.Notes, noteRow{Status: optional(note.Status), Note: note.Text, CreatedAt: moment(note.CreatedAt)})
	}
	return row
}

// bytes is how long the texts of a row are.
func (r ticketRow) bytes() int {
	size := len(r.Name)
	if r.Description != nil {
		size += len(*r.Description)
	}
	for _, note := range r.Notes {
		size += len(note.Note)
	}
	return size
}

// optional is null for an empty text.
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
