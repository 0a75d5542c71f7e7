// Package filter defines the filters of searches, questions and lists: people, statuses, labels,
// dates and so on. It owns the JSON shape of "filters", its validation and how two filters combine.
// It knows no HTTP, and SQL decides which tickets match.
package filter

import (
	"encoding/json"
	"slices"
	"strings"
)

// Limits of a list.
const (
	MaxValues     = 50
	MaxCharacters = 255                     // of a value
	MaxID         = 999_999_999_999_999_999 // of a project
)

// Me is the user who holds the request's token.
const Me = "me"

// Filters select the tickets that match every member. Any value of a list may match. The zero value
// matches all tickets. The tags are what the API's document says of them (server/api/filters.go).
type Filters struct {
	_ struct{} `doc:"What tickets must be. All members must hold, and of a list one value is enough. Names compare without regard to case; one that no ticket has finds nothing. A project's own text passes ~projects~ alone." example:"{\"open\": true, \"assignee\": \"me\", \"labels\": [\"payments\"]}"`

	Projects   []Value `json:"projects,omitempty" default:"" values:"ids" doc:"Keys or ids."`
	Statuses   []Value `json:"statuses,omitempty" default:"" doc:"One name, or a list of which one is enough."`
	Open       *bool   `json:"open,omitempty" default:"" doc:"Whether the ticket is open: the category of its status is not done."`
	Assignee   []Value `json:"assignee,omitempty" default:"" values:"people" doc:"People as the tracker names them. ~me~ is whoever the user's token names; null in a list is nobody."`
	Reporter   []Value `json:"reporter,omitempty" default:"" values:"people" doc:"As ~assignee~."`
	Types      []Value `json:"types,omitempty" default:"" doc:"As ~statuses~."`
	Priorities []Value `json:"priorities,omitempty" default:"" doc:"As ~statuses~."`
	Labels     Labels  `json:"labels,omitzero" default:"" doc:"Labels of which a ticket has any, or ~any~ and ~all~. ~labels_all~ is short for ~all~; both together have at most 50."`
	Created    Range   `json:"created,omitzero" default:"" doc:"From and to; either may be absent. A date (~2025-03-31~) is a day in UTC, and both days are included; of times (RFC 3339) ~to~ is not. ~from~ must not be after ~to~."`
	Updated    Range   `json:"updated,omitzero" default:"" doc:"As ~created~."`
	Due        Range   `json:"due,omitzero" default:"" doc:"Dates, both included; either may be absent. ~from~ must not be after ~to~."`
	// Not excludes tickets that match any of its members. It has neither Open nor Not.
	Not *Filters `json:"not,omitempty" default:"" doc:"What tickets must not be. One that passes any member is left out; one without a value stays."`
	// Nothing means that the joined filters contradict each other, so no ticket matches and no
	// database call is needed.
	Nothing bool `json:"-"`
}

// Labels selects tickets with at least one label of Any and every label of All.
type Labels struct {
	Any []Value `json:"any,omitempty" default:""`
	All []Value `json:"all,omitempty" default:""`
}

// IsZero reports whether every ticket matches.
func (l Labels) IsZero() bool { return len(l.Any) == 0 && len(l.All) == 0 }

// Range is a range of dates (2025-03-01, both inclusive) or times (RFC 3339, To exclusive). ""
// leaves an end open.
type Range struct {
	From string `json:"from,omitempty" default:"" example:"2025-03-01"`
	To   string `json:"to,omitempty" default:"" example:"2025-03-31"`
}

// Value is a text, a project id if ID is not 0, or null.
type Value struct {
	Text string
	ID   int64
	Null bool
}

// Texts converts texts to values.
func Texts(texts ...string) (values []Value) {
	for _, text := range texts {
		values = append(values, Value{Text: text})
	}
	return values
}

// MarshalJSON writes a string, a number or null.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.Null:
		return []byte("null"), nil
	case v.ID != 0:
		return json.Marshal(v.ID)
	default:
		return json.Marshal(v.Text)
	}
}

// List is a member that holds a list of values.
type List struct {
	Name   string // in JSON
	Typed  string // in a query: status:Done
	Values *[]Value
	Kind   Kind
}

// Kind is what a List holds besides names.
type Kind int

// The kinds of lists.
const (
	Names  Kind = iota
	IDs         // also ids
	People      // also nobody and Me
)

// Lists returns all members that hold lists. To filter by another one, add it here and to Filters.
func (f *Filters) Lists() []List {
	return []List{
		{"projects", "project", &f.Projects, IDs}, {"statuses", "status", &f.Statuses, Names},
		{"assignee", "assignee", &f.Assignee, People}, {"reporter", "reporter", &f.Reporter, People},
		{"types", "type", &f.Types, Names}, {"priorities", "priority", &f.Priorities, Names},
	}
}

// Span is a member that holds a range. Its name in a query is the one in JSON.
type Span struct {
	Name  string
	Range *Range
	Days  bool // dates only
}

// Spans returns all members that hold ranges.
func (f *Filters) Spans() []Span {
	return []Span{{"created", &f.Created, false}, {"updated", &f.Updated, false}, {"due", &f.Due, true}}
}

// IsZero reports whether every ticket matches.
func (f Filters) IsZero() bool {
	for _, l := range f.Lists() {
		if len(*l.Values) > 0 {
			return false
		}
	}
	for _, s := range f.Spans() {
		if *s.Range != (Range{}) {
			return false
		}
	}
	return f.Open == nil && f.Labels.IsZero() && (f.Not == nil || f.Not.IsZero()) && !f.Nothing
}

// Project is the only project whose tickets can match, or nil: there are more, or it is named by
// its key.
func (f Filters) Project() *int64 {
	if len(f.Projects) != 1 || f.Projects[0].ID == 0 {
		return nil
	}
	return &f.Projects[0].ID
}

// AsksForMe names the first member that contains "me", or returns "".
func (f Filters) AsksForMe() string {
	for _, l := range f.Lists() {
		if l.Kind == People && slices.ContainsFunc(*l.Values, Value.isMe) {
			return l.Name
		}
	}
	if f.Not != nil {
		if name := f.Not.AsksForMe(); name != "" {
			return "not." + name
		}
	}
	return ""
}

func (v Value) isMe() bool { return v.Text == Me }

// Folded normalises order and ASCII case, so that equivalent filters share a cache key. Which names
// beyond ASCII are equal, only the database knows.
func (f Filters) Folded() Filters {
	for _, l := range f.Lists() {
		*l.Values = fold(*l.Values)
	}
	f.Labels = Labels{Any: fold(f.Labels.Any), All: fold(f.Labels.All)}
	if f.Not != nil {
		not := f.Not.Folded()
		f.Not = &not
	}
	return f
}

func fold(values []Value) []Value {
	values = slices.Clone(values)
	for i := range values {
		values[i].Text = strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, values[i].Text)
	}
	slices.SortFunc(values, func(a, b Value) int {
		if a.ID != b.ID {
			return int(min(1, max(-1, a.ID-b.ID)))
		}
		return strings.Compare(a.Text, b.Text)
	})
	return slices.Compact(values)
}
