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

// Ticket is one ticket. Key, ProjectKey, Name and Status are never empty, and no text holds U+0000 or invalid UTF-8.
// Whether its project exists is for the caller to find out.
type Ticket struct {
	Key         string // the key outside the database, such as "SHOP-7"
	ProjectKey  string
	Name        string // of any length
	Description string // "" when there is none
	Status      string // at most 100 characters; DefaultStatus when the row names none
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Notes       []Note // in the order of the row

	// Of these nil says that the row does not tell, and "", a zero time or an empty list that there is none.
	Assignee       *string
	Reporter       *string
	Type           *string // Bug, Story, …
	Priority       *string
	Labels         []string
	DueDate        *string // 2025-03-14
	ResolvedAt     *time.Time
	StatusCategory string    // to_do, in_progress, done, or "" where the row does not tell
	Comments       []Comment // in the order of the row
	Links          []Link    // that begin or end at this ticket

	// File and Line are where the row starts.
	File string
	Line int

	// Warnings say what was left out of this row, such as an unreadable date. The ticket is good without it.
	Warnings []*RowError
}

// Note is one status note of a ticket. Text is never empty.
type Note struct {
	Status    string // "" when the note names none; a database wants null there, not a nameless status
	Text      string
	CreatedAt time.Time
}

// Comment is one comment on a ticket. Key and Text are never empty.
type Comment struct {
	Key       string // tells it from the ticket's other comments, the same in every export
	Author    string // "" when unknown
	Text      string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Link says that the ticket From duplicates, blocks, relates to or is a child of the ticket To. Both are keys.
type Link struct {
	From, Kind, To string
}

// The kinds of links.
const (
	Duplicates = "duplicates"
	Blocks     = "blocks"
	RelatesTo  = "relates_to"
	ChildOf    = "child_of"
)

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
