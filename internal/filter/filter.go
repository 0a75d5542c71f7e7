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
	MaxCharacters = 255 // of a value
	maxID         = 999_999_999_999_999_999
)

// Me is the user who holds the request's token.
const Me = "me"

// Filters select the tickets that match every member. Any value of a list may match. The zero value
// matches all tickets.
type Filters struct {
	Projects   []Value `json:"projects,omitempty"` // keys or ids
	Statuses   []Value `json:"statuses,omitempty"`
	Open       *bool   `json:"open,omitempty"`     // true: the status category is not done
	Assignee   []Value `json:"assignee,omitempty"` // null means nobody, here and in Reporter
	Reporter   []Value `json:"reporter,omitempty"`
	Types      []Value `json:"types,omitempty"`
	Priorities []Value `json:"priorities,omitempty"`
	Labels     Labels  `json:"labels,omitzero"`
	Created    Range   `json:"created,omitzero"`
	Updated    Range   `json:"updated,omitzero"`
	Due        Range   `json:"due,omitzero"`
	// Not excludes tickets that match any of its members. It has neither Open nor Not.
	Not *Filters `json:"not,omitempty"`
	// Nothing means that the joined filters contradict each other, so no ticket matches and no
	// database call is needed.
	Nothing bool `json:"-"`
}

// Labels selects tickets with at least one label of Any and every label of All.
type Labels struct {
	Any []Value `json:"any,omitempty"`
	All []Value `json:"all,omitempty"`
}

// IsZero reports whether every ticket matches.
func (l Labels) IsZero() bool { return len(l.Any) == 0 && len(l.All) == 0 }

// Range is a range of dates (2025-03-01, both inclusive) or times (RFC 3339, To exclusive). ""
// leaves an end open.
type Range struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
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

// list is a member that holds a list, and the kinds of values it accepts.
type list struct {
	name        string
	values      *[]Value
	ids, nobody bool
}

func (f *Filters) lists() []list {
	return []list{
		{name: "projects", values: &f.Projects, ids: true}, {name: "statuses", values: &f.Statuses},
		{name: "assignee", values: &f.Assignee, nobody: true}, {name: "reporter", values: &f.Reporter, nobody: true},
		{name: "types", values: &f.Types}, {name: "priorities", values: &f.Priorities},
	}
}

// span is a member that holds a range.
type span struct {
	name  string
	bound *Range
	days  bool // dates only
}

func (f *Filters) spans() []span {
	return []span{{"created", &f.Created, false}, {"updated", &f.Updated, false}, {"due", &f.Due, true}}
}

// IsZero reports whether every ticket matches.
func (f Filters) IsZero() bool {
	for _, l := range f.lists() {
		if len(*l.values) > 0 {
			return false
		}
	}
	for _, s := range f.spans() {
		if *s.bound != (Range{}) {
			return false
		}
	}
	return f.Open == nil && f.Labels.IsZero() && (f.Not == nil || f.Not.IsZero()) && !f.Nothing
}

// AsksForMe names the first member that contains "me", or returns "".
func (f Filters) AsksForMe() string {
	for _, l := range f.lists() {
		if (l.name == "assignee" || l.name == "reporter") && slices.ContainsFunc(*l.values, Value.isMe) {
			return l.name
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
	for _, l := range f.lists() {
		*l.values = fold(*l.values)
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
