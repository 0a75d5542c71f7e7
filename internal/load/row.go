package load

import (
	"encoding/json"
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

	// Omitted if the file does not have the field, which leaves the stored value unchanged. An
	// empty value clears it.
	Category   *string      `json:"status_category,omitempty"`
	UpdatedAt  *time.Time   `json:"updated_at,omitempty"`
	Labels     *[]string    `json:"labels,omitempty"`
	DueDate    *string      `json:"due_date,omitempty"`
	ResolvedAt *string      `json:"resolved_at,omitempty"`
	Comments   []commentRow `json:"comments,omitzero"`
	Links      []linkRow    `json:"links,omitzero"`

	texts map[string]string // further columns
}

// MarshalJSON writes the texts as members of the row.
func (r ticketRow) MarshalJSON() ([]byte, error) {
	type fields ticketRow
	row, err := json.Marshal(fields(r))
	if err != nil || len(r.texts) == 0 {
		return row, err
	}
	texts, err := json.Marshal(r.texts)
	return append(append(row[:len(row)-1], ','), texts[1:]...), err
}

type linkRow struct {
	Kind   string `json:"kind"`
	Key    string `json:"key"` // of the other ticket
	Inward bool   `json:"inward"`
}

type commentRow struct {
	Key       string     `json:"key"`
	Author    string     `json:"author,omitempty"`
	Body      string     `json:"body"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
}

type noteRow struct {
	Status    *string    `json:"status"`
	Note      string     `json:"note"`
	CreatedAt *time.Time `json:"created_at"`
}

func newTicketRow(t ticketfile.Ticket) ticketRow {
	row := ticketRow{Key: t.Key, ProjectKey: t.ProjectKey, Status: t.Status, Name: t.Name, Description: optional(t.Description),
		CreatedAt: moment(t.CreatedAt), Notes: []noteRow{}, Category: optional(t.Category), UpdatedAt: moment(t.UpdatedAt),
		texts:   t.Texts,
		DueDate: dateText(t.DueDate, time.DateOnly), ResolvedAt: dateText(t.ResolvedAt, time.RFC3339Nano)}
	if t.Labels != nil {
		row.Labels = &t.Labels
	}
	if t.Comments != nil {
		row.Comments = []commentRow{}
	}
	for _, c := range t.Comments {
		row.Comments = append(row.Comments, commentRow{Key: c.Key, Author: c.Author, Body: c.Body, CreatedAt: moment(c.CreatedAt), UpdatedAt: moment(c.UpdatedAt)})
	}
	if t.Links != nil {
		row.Links = []linkRow{}
	}
	for _, link := range t.Links {
		row.Links = append(row.Links, linkRow(link))
	}
	for _, note := range t.Notes {
		row.Notes = append(row.Notes, noteRow{Status: optional(note.Status), Note: note.Text, CreatedAt: moment(note.CreatedAt)})
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
	for _, comment := range r.Comments {
		size += len(comment.Body)
	}
	return size
}

// dateText is nil if the file does not have the field, and empty if it clears it.
func dateText(t *time.Time, layout string) *string {
	if t == nil {
		return nil
	}
	text := ""
	if !t.IsZero() {
		text = t.Format(layout)
	}
	return &text
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
