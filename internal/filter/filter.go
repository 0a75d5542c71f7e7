// Package filter defines the filters of searches, questions and lists: people, statuses, labels,
// dates and so on. It reads them from JSON; the database reads those in the text of a query,
// validates all, and decides which tickets match.
package filter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Filters are conditions that a ticket must all meet. The zero value matches every ticket. Each is
// Members, or a JSON object with these members as a client wrote it.
type Filters []any

// And adds a condition.
func (f Filters) And(also Members) Filters {
	if also.IsZero() {
		return f
	}
	return append(slices.Clip(f), also)
}

// MarshalJSON writes an object, a list of objects, or null.
func (f Filters) MarshalJSON() ([]byte, error) {
	switch len(f) {
	case 0:
		return []byte("null"), nil
	case 1:
		return json.Marshal(f[0])
	}
	return json.Marshal([]any(f))
}

// Read reads filters from a JSON object. Members that are null, blank or empty count as absent.
func Read(object []byte) (Filters, error) {
	reader := json.NewDecoder(bytes.NewReader(object))
	reader.UseNumber() // an id may have more digits than a float64 holds
	members := map[string]any{}
	if !json.Valid(object) || reader.Decode(&members) != nil || members == nil {
		return nil, errors.New("must be a JSON object")
	}
	if err := storable(members); err != nil {
		return nil, err
	}
	not, _ := members["not"].(map[string]any)
	filters := slices.Concat(all(members), negated(all(not)))
	if members, _ = withoutBlanks(members, reflect.TypeFor[Members]()).(map[string]any); len(members) > 0 {
		filters = append(Filters{members}, filters...)
	}
	return filters, nil
}

// all takes the member labels_all, which is short for labels with all, and a condition of its own
// beside labels.
func all(members map[string]any) (beside Filters) {
	labels := map[string]any{"all": withoutBlanks(members["labels_all"], reflect.TypeFor[Values]())}
	delete(members, "labels_all")
	switch {
	case labels["all"] == nil:
	case withoutBlanks(members["labels"], reflect.TypeFor[Labels]()) != nil:
		beside = Filters{map[string]any{"labels": labels}}
	default:
		members["labels"] = labels
	}
	return beside
}

func negated(filters Filters) Filters {
	for i := range filters {
		filters[i] = map[string]any{"not": filters[i]}
	}
	return filters
}

// withoutBlanks returns nil for a value that filters nothing. Null in a list is a ticket without a
// value. What is not of this type stays, and the database refuses it.
func withoutBlanks(value any, of reflect.Type) any {
	switch value := value.(type) {
	case string:
		if strings.TrimSpace(value) == "" {
			return nil
		}
	case []any:
		if of != reflect.TypeFor[Values]() && of != reflect.TypeFor[Labels]() {
			return value
		}
		value = slices.DeleteFunc(value, func(element any) bool {
			return element != nil && withoutBlanks(element, reflect.TypeFor[string]()) == nil
		})
		if len(value) == 0 {
			return nil
		}
		return value
	case map[string]any:
		if of.Kind() != reflect.Struct {
			return value
		}
		for field := range of.Fields() {
			name := nameInJSON(field)
			member, given := value[name]
			if field.Type.Kind() == reflect.Pointer {
				field.Type = field.Type.Elem()
			}
			if !given || name == "" {
				continue
			}
			if value[name] = withoutBlanks(member, field.Type); value[name] == nil {
				delete(value, name)
			}
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

func nameInJSON(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// storable returns an error for what Postgres cannot read as jsonb: NUL, and 1e999999.
func storable(value any) (err error) {
	switch value := value.(type) {
	case string:
		if strings.ContainsRune(value, 0) {
			return errors.New("must not contain U+0000")
		}
	case json.Number:
		if strings.ContainsAny(value.String(), "eE") {
			return errors.New("must not contain a number with an exponent")
		}
	case []any:
		for _, element := range value {
			err = cmp.Or(err, storable(element))
		}
	case map[string]any:
		for name, element := range value {
			err = cmp.Or(err, storable(name), storable(element))
		}
	}
	return err
}

// Limits of a list, which the database checks.
const (
	MaxValues     = 50
	MaxCharacters = 255                     // of a value
	MaxID         = 999_999_999_999_999_999 // of a project
)

// Members are what tickets can be filtered by; a ticket must meet all of them, and of a list one
// value is enough. To filter by another column, add it here and to ticket_members of the database.
// The tags are what the API's document says of them (server/api/filters.go). typed is the name in
// the text of a query.
type Members struct {
	_ struct{} `doc:"What tickets must be: all members must hold, of a list one value. Case is ignored. A project's own text passes ~projects~ alone." example:"{\"open\": true, \"assignee\": \"me\", \"labels\": [\"payments\"]}"`

	Projects   Values `json:"projects,omitempty" default:"" values:"ids" typed:"project" doc:"Keys or ids."`
	Statuses   Values `json:"statuses,omitempty" default:"" typed:"status" doc:"A name or a list."`
	Open       *bool  `json:"open,omitempty" default:"" doc:"Whether the category of its status is not done."`
	Assignee   Values `json:"assignee,omitempty" default:"" values:"people" typed:"assignee" doc:"~me~ is the user of the token; null in a list is nobody."`
	Reporter   Values `json:"reporter,omitempty" default:"" values:"people" typed:"reporter" doc:"As ~assignee~."`
	Types      Values `json:"types,omitempty" default:"" typed:"type" doc:"As ~statuses~."`
	Priorities Values `json:"priorities,omitempty" default:"" typed:"priority" doc:"As ~statuses~."`
	Labels     Labels `json:"labels,omitzero" default:"" typed:"label" doc:"Any of these, or ~any~ and ~all~; ~labels_all~ is short for ~all~."`
	Created    Range  `json:"created,omitzero" default:"" typed:"created" doc:"Days in UTC, both included, or times (RFC 3339), ~to~ excluded; either may be absent."`
	Updated    Range  `json:"updated,omitzero" default:"" typed:"updated" doc:"As ~created~."`
	Resolved   Range  `json:"resolved,omitzero" default:"" typed:"resolved" doc:"As ~created~."`
	Due        Range  `json:"due,omitzero" default:"" values:"days" typed:"due" doc:"Days, both included; either may be absent."`
	// Not excludes tickets that meet any of its members. It has neither Open nor Not.
	Not *Members `json:"not,omitempty" default:"" doc:"Leaves out tickets that pass any member; one without a value stays."`
}

// Values are texts, ids (int64) of projects, and nil for tickets without a value.
type Values []any

// Labels selects tickets with at least one label of Any and every label of All.
type Labels struct {
	Any Values `json:"any,omitempty" default:""`
	All Values `json:"all,omitempty" default:""`
}

// Range is a range of dates (2025-03-01, both inclusive) or times (RFC 3339, To exclusive). ""
// leaves an end open.
type Range struct {
	From string `json:"from,omitempty" default:"" example:"2025-03-01"`
	To   string `json:"to,omitempty" default:"" example:"2025-03-31"`
}

// IsZero reports whether every ticket matches.
func (m Members) IsZero() bool { return reflect.ValueOf(m).IsZero() }

// Kind is what the values of a member are.
type Kind string

// The kinds of members.
const (
	Names  Kind = ""
	IDs    Kind = "ids"    // or keys
	People Kind = "people" // also nobody and me
	Days   Kind = "days"   // no times
)

// Member is one of Members that can be typed in a query.
type Member struct {
	Name  string // in JSON
	Typed string // in a query: status:Done
	Kind  Kind
	Value any // *Values, *Labels or *Range
}

// Typed returns all members that can be typed.
func (m *Members) Typed() (all []Member) {
	for field, value := range reflect.ValueOf(m).Elem().Fields() {
		if typed, is := field.Tag.Lookup("typed"); is {
			all = append(all, Member{nameInJSON(field), typed, Kind(field.Tag.Get("values")), value.Addr().Interface()})
		}
	}
	return all
}

// Member returns the one that has this name in JSON.
func (m *Members) Member(name string) Member {
	for _, member := range m.Typed() {
		if member.Name == name {
			return member
		}
	}
	return Member{}
}
