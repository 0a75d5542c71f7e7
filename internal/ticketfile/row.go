package ticketfile

import (
	"fmt"
	"time"
)

// DefaultStatus is the status of a ticket whose row names none.
const DefaultStatus = "To Do"

// Project is one project. Key and Name are never empty, and no text holds U+0000 or invalid UTF-8.
type Project struct {
	Key         string // the key outside the database, such as "SHOP"
	Name        string
	Description string // "" when there is none
}

// Ticket is one ticket. Key, ProjectKey, Name and Status are never empty, and no text holds U+0000
// or invalid UTF-8. Whether its project exists is for the caller to find out.
type Ticket struct {
	Key         string // the key outside the database, such as "SHOP-7"
	ProjectKey  string
	Name        string // of any length
	Description string // "" when there is none
	Status      string // at most 100 characters; DefaultStatus when the row names none
	Category    string // of the status: "to_do", "in_progress" or "done"; "" when the row does not say
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Notes       []Note // in the order of the row

	// What a row may leave open: nil where it says nothing, which changes nothing; empty or zero
	// where it says that there is none, which clears.
	Assignee, Reporter, Type, Priority *string
	Labels                             []string
	DueDate, ResolvedAt                *time.Time
	Comments                           []Comment // in the order of the row
	Links                              []Link

	// File and Line are where the row starts.
	File string
	Line int

	// Warnings say what was left out of this row, such as an unreadable date. The ticket is good
	// without it.
	Warnings []*RowError
}

// Note is one status note of a ticket. Text is never empty.
type Note struct {
	Status    string // "" when the note names none; a database wants null there, not a nameless status
	Text      string
	CreatedAt time.Time
}

// Comment is one comment on a ticket. Key and Body are never empty.
type Comment struct {
	Key                  string // its id in the tracker, or one made of its time, its author and their order
	Author               string // "" when unknown
	Body                 string
	CreatedAt, UpdatedAt time.Time
}

// Link is a link between a ticket and another: from the ticket, or to it where it is Inward.
type Link struct {
	Kind   string // "duplicates", "blocks", "relates_to" or "child_of"
	Key    string // the other ticket's
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
