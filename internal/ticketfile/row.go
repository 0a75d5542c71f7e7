package ticketfile

import (
	"fmt"
	"time"
)

// DefaultStatus is the status of a ticket whose row has none.
const DefaultStatus = "To Do"

// Project is one project. Key and Name are never empty; texts are valid UTF-8 without U+0000.
type Project struct {
	Key         string // external key, such as "SHOP"
	Name        string
	Description string // "" if there is none
	Origin      string // the repository in lower case, such as "github.com/acme/pumps"; "" if the format does not name the tracker
}

func (p Project) prefixed(prefix string) Project {
	p.Key = prefix + p.Key
	return p
}

// Ticket is one ticket. Key, ProjectKey, Name and Status are never empty; texts are valid UTF-8
// without U+0000. The caller checks that the project exists.
type Ticket struct {
	Key         string // external key, such as "SHOP-7"
	ProjectKey  string
	Name        string // of any length
	Description string // "" if there is none
	Status      string // at most 100 characters; DefaultStatus if the row has none
	Category    string // of the status: "to_do", "in_progress" or "done"; "" if unknown
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Notes       []Note // in row order

	// Optional fields. Absent or nil: the row lacks the field and the stored value stays. Empty or
	// zero: the value is cleared.
	Texts               map[string]string // by column, as textFields lists them
	Labels              []string
	DueDate, ResolvedAt *time.Time
	Comments            []Comment // in row order
	Links               []Link

	// File and Line are where the row starts.
	File string
	Line int

	// Warnings name what was dropped from this row, such as an unreadable date. The ticket is valid
	// without it.
	Warnings []*RowError
}

func (t Ticket) prefixed(prefix string) Ticket {
	t.Key, t.ProjectKey = prefix+t.Key, prefix+t.ProjectKey
	for i := range t.Links {
		t.Links[i].Key = prefix + t.Links[i].Key
	}
	return t
}

// Note is one status note of a ticket. Text is never empty.
type Note struct {
	Status    string // "" if the note has none; store it as null, not as a status without a name
	Text      string
	CreatedAt time.Time
}

// Comment is one comment on a ticket. Key and Body are never empty.
type Comment struct {
	Key                  string // id in the tracker, or generated from time, author and order
	Author               string // "" if unknown
	Body                 string
	CreatedAt, UpdatedAt time.Time
}

// Link is a link between two tickets: from this ticket, or to it if Inward.
type Link struct {
	Kind   string // "duplicates", "blocks", "relates_to" or "child_of"
	Key    string // of the other ticket
	Inward bool   // the other ticket duplicates, blocks or is the child of this one
}

// RowError says what is wrong with one row.
type RowError struct {
	File   string // the path of the file
	Line   int    // the line on which the row starts, counted from 1
	Reason string
}

func (e *RowError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// place is where a row starts.
type place struct {
	file string
	line int
}

func (p place) wrong(format string, args ...any) *RowError {
	return &RowError{File: p.file, Line: p.line, Reason: fmt.Sprintf(format, args...)}
}
