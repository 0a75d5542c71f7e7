package ticketfile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// DefaultStatus is the status of a ticket whose row has none.
const DefaultStatus = "To Do"

// Project is a project. Key and Name are never empty; texts are valid UTF-8 without U+0000.
type Project struct {
	Key         string    `json:"key"` // external key, such as "SHOP"
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Language    string    `json:"language,omitempty"` // as Postgres names it; "" leaves what is stored
	Warning     *RowError `json:"-"`                  // nil, or that its name was cut
	Origin      string    `json:"-"`                  // the repository in lower case, such as "github.com/acme/pumps"; "" if the format does not name the tracker
}

// Ticket is a ticket. Key, ProjectKey, Name and Status are never empty; texts are valid UTF-8
// without U+0000, times are RFC 3339 in UTC. The caller checks that the project exists.
//
// A list or Text that the row lacks is nil or not given: it is left out of the JSON, and the stored
// value stays. An empty one clears it.
type Ticket struct {
	Key        string `json:"key"` // external key, such as "SHOP-7"
	ProjectKey string `json:"project_key"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Category   string `json:"status_category,omitempty"` // to_do, in_progress or done; "" if unknown
	CreatedAt  string `json:"created_at,omitempty"`
	UpdatedAt  string `json:"updated_at,omitempty"`

	Description string `json:"description,omitempty"`
	Assignee    Text   `json:"assignee,omitzero"`
	Reporter    Text   `json:"reporter,omitzero"`
	TicketType  Text   `json:"ticket_type,omitzero"`
	Priority    Text   `json:"priority,omitzero"`
	DueDate     Text   `json:"due_date,omitzero"`
	ResolvedAt  Text   `json:"resolved_at,omitzero"`

	Labels   []string  `json:"labels,omitzero"`
	Notes    []Note    `json:"notes,omitzero"`
	Comments []Comment `json:"comments,omitzero"`
	Links    []Link    `json:"links,omitzero"`

	// Where the row starts, as in RowError, and what was dropped from it, such as an unreadable date.
	File     string      `json:"-"`
	Line     int         `json:"-"`
	Written  string      `json:"-"` // the key as the file has it
	Warnings []*RowError `json:"-"`

	project Project        // of an export, which has no rows of projects
	source  string         // what the project's key stands for, if it is not the file's own
	keeps   bool           // whether lines of other columns follow the description
	counts  map[string]int // defects that a row may have many of
}

// Note is a status note.
type Note struct {
	Status    string `json:"status,omitempty"`
	Text      string `json:"note"`
	CreatedAt string `json:"created_at,omitempty"`
}

// Comment is a comment. Key and Body are never empty.
type Comment struct {
	Key       string `json:"key"` // id in the tracker, or made from time, author and order
	Author    string `json:"author,omitempty"`
	Body      string `json:"body"`
	CreatedAt string `json:"created_at,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
}

// Link is a link to another ticket, or from it if Inward.
type Link struct {
	Kind   string `json:"kind"` // duplicates, blocks, relates_to or child_of
	Key    string `json:"key"`  // of the other ticket
	Inward bool   `json:"inward"`
}

// Text is a text that a row may lack.
type Text struct {
	Value string
	Given bool
}

func given(value string) Text { return Text{value, true} }

// MarshalJSON writes null if the row lacks the text.
func (t Text) MarshalJSON() ([]byte, error) {
	if !t.Given {
		return []byte("null"), nil
	}
	return json.Marshal(t.Value)
}

// RowError says what is wrong with one row.
type RowError struct {
	File   string // the path of the file
	Line   int    // the line on which the row starts, or in JSON which issue it is, counted from 1; 0 for a whole file
	Key    string // of the ticket, if the row has one
	Reason string
}

func (e *RowError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprint(":", e.Line)
	}
	return place + ": " + strings.TrimPrefix(e.Key+": "+e.Reason, ": ")
}

// addLine adds a line of another field to the end of the description, after a blank one.
func (t *Ticket) addLine(line string) {
	if t.Description != "" && !t.keeps {
		line = "\n" + line
	}
	t.keeps = true
	t.Description = strings.TrimPrefix(t.Description+"\n"+line, "\n")
}

func (t *Ticket) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, &RowError{File: t.File, Line: t.Line, Reason: fmt.Sprintf(format, args...)})
}

// count counts a defect: a row may have a million notes.
func (t *Ticket) count(what string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[what]++
}

// bad says that the row is.
func (t *Ticket) bad(err error) *RowError {
	return &RowError{File: t.File, Line: t.Line, Key: t.Key, Reason: err.Error()}
}

// Size returns the number of bytes of a ticket's texts.
func (t Ticket) Size() int {
	size := len(t.Name) + len(t.Description)
	for _, note := range t.Notes {
		size += len(note.Text)
	}
	for _, comment := range t.Comments {
		size += len(comment.Body)
	}
	return size
}
