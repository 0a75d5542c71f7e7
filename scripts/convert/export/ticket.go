package export

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// DefaultStatus is the status of a ticket whose row has none.
const DefaultStatus = "To Do"

// Project is a project. Key and Name are never empty; texts are valid UTF-8 without U+0000.
type Project struct {
	Key         string `json:"project_id"` // external key, such as "SHOP"
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Language    string `json:"language,omitempty"` // as Postgres names it; "" leaves what is stored
	File        string `json:"file"`
	Line        int    `json:"line,omitzero"`

	Warning *RowError `json:"-"` // nil, or that its name was cut
	Origin  string    `json:"-"` // the repository in lower case, such as "github.com/acme/pumps"; "" if the format does not name the tracker
}

// Ticket is a ticket. Key, ProjectKey, Name and Status are never empty; texts are valid UTF-8
// without U+0000, times are RFC 3339 in UTC.
//
// A list or Text that the row lacks is nil or not given: it is left out of the JSON, and the stored
// value stays. An empty one clears it.
type Ticket struct {
	Key        string `json:"ticket_id"` // external key, such as "SHOP-7"
	ProjectKey string `json:"project_id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Category   string `json:"status_category,omitempty"` // to_do, in_progress or done; "" if unknown
	CreatedAt  string `json:"created_at,omitempty"`
	UpdatedAt  string `json:"updated_at,omitempty"`
	SourceID   string `json:"source_id,omitempty"` // what the tracker calls it whatever its key
	URL        string `json:"url,omitempty"`       // of its page

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

	// Where the row starts, as in RowError.
	File string `json:"file"`
	Line int    `json:"line"`

	Written  string      `json:"-"` // the key as the file has it
	Warnings []*RowError `json:"-"` // what was dropped from it, such as an unreadable date

	kept     []line         // of other columns, which follow the description
	project  Project        // of an export, which has no rows of projects
	document *Document      // in place of a ticket
	source   string         // what the project's key stands for, if it is not the file's own
	counts   map[string]int // defects that a row may have many of
}

// line is a line of another column: what it is called, and its text as the file has it.
type line struct{ Name, Text string }

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
	Kind     string `json:"kind"`                // duplicates, blocks, relates_to or child_of
	Key      string `json:"key,omitempty"`       // of the other ticket
	SourceID string `json:"source_id,omitempty"` // or its id in the tracker
	Inward   bool   `json:"inward"`
}

var bareID = regexp.MustCompile(`^(\d+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)

// linkTo is a link to what a tracker whose keys have a project names by its key or its id.
func linkTo(kind, named string, inward bool) Link {
	if named = strings.TrimSpace(named); bareID.MatchString(named) {
		return Link{Kind: kind, SourceID: named, Inward: inward}
	}
	return Link{Kind: kind, Key: named, Inward: inward}
}

// Text is a text that a row may lack. It is a text in JSON, which leaves it out if it is not given.
type Text struct {
	Value string
	Given bool
}

func given(value string) Text { return Text{value, true} }

// MarshalJSONTo writes the text.
func (t Text) MarshalJSONTo(out *jsontext.Encoder) error {
	return out.WriteToken(jsontext.String(t.Value))
}

// UnmarshalJSONFrom reads a text, which is given.
func (t *Text) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	token, err := in.ReadToken()
	if err == nil {
		*t = given(token.String())
	}
	return err
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

// isIn puts a ticket, which has a number, into the project of a repository.
func (t *Ticket) isIn(repository string) {
	_, name, _ := strings.Cut(repository, "/")
	t.ProjectKey, t.source = strings.ToUpper(path.Base(repository)), repository
	t.Key, t.project = t.ProjectKey+"-"+t.Key, Project{Name: name, Origin: strings.ToLower(repository)}
}

// bad says that the row is.
func (t *Ticket) bad(err error) *RowError {
	return &RowError{File: t.File, Line: t.Line, Key: t.Key, Reason: err.Error()}
}
