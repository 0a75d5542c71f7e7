// Package filter is what searches, questions and lists are narrowed by: people, statuses, labels,
// dates and the like. It owns the shape of "filters", its check, and how two of them are joined. It
// knows neither HTTP nor SQL, which decide what passes.
package filter

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of a list.
const (
	MaxValues     = 50
	MaxCharacters = 255 // of a value
	maxID         = 999_999_999_999_999_999
)

// Me stands for the user of the token.
const Me = "me"

// Filters narrow to the tickets that pass every member. Of a list any value is enough. The zero
// value lets all pass.
type Filters struct {
	Projects   []Value `json:"projects,omitempty"` // keys or ids
	Statuses   []Value `json:"statuses,omitempty"`
	Open       *bool   `json:"open,omitempty"`     // the status is not of the category done; false: it is
	Assignee   []Value `json:"assignee,omitempty"` // null: nobody; so in Reporter
	Reporter   []Value `json:"reporter,omitempty"`
	Types      []Value `json:"types,omitempty"`
	Priorities []Value `json:"priorities,omitempty"`
	Labels     Labels  `json:"labels,omitzero"`
	Created    Range   `json:"created,omitzero"`
	Updated    Range   `json:"updated,omitzero"`
	Due        Range   `json:"due,omitzero"`
	// Not keeps out what passes any of its members. It has neither Open nor Not.
	Not *Filters `json:"not,omitempty"`
	// Nothing says that no ticket can pass: what was joined contradicts itself. The database is not
	// asked then.
	Nothing bool `json:"-"`
}

// Labels are those of which a ticket has at least one (Any), and those that it all has.
type Labels struct {
	Any []Value `json:"any,omitempty"`
	All []Value `json:"all,omitempty"`
}

// IsZero says whether any ticket passes.
func (l Labels) IsZero() bool { return len(l.Any) == 0 && len(l.All) == 0 }

// Range is one of days, each a date (2025-03-01, both included), or times (RFC 3339, To excluded);
// "" where it is open.
type Range struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Value is a text, the id of a project where ID is not 0, or null.
type Value struct {
	Text string
	ID   int64
	Null bool
}

// Texts makes values of texts.
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

// list is a member that is a list, and what may stand in it.
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

// span is a member that is a range.
type span struct {
	name  string
	bound *Range
	days  bool // no times
}

func (f *Filters) spans() []span {
	return []span{{"created", &f.Created, false}, {"updated", &f.Updated, false}, {"due", &f.Due, true}}
}

// IsZero says whether everything passes.
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

// AsksForMe names the first member that holds "me"; "" where none does.
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

// Folded is the same for filters that let the same pass whatever their order and, in ASCII, their
// case: what results are kept under. Beyond ASCII the database alone knows which names are the
// same.
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
