package mcp

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tasklens/internal/filter"
	find "tasklens/internal/search"
)

// Types of arguments. Optional ones are pointers or one of these, so that a null counts as absent.
type (
	filters      map[string]any
	sameFilters  map[string]any // as filters, described there
	id           any            // models send ids as numbers and as strings
	ticketMore   []string
	sourceMore   []string
	documentMore []string
)

// What tools show of a result, and what more the argument fields adds.
var (
	ticketFields = []string{"ticket_key", "ticket_name", "status", "project_name", "text"}
	moreOfTicket = slices.Concat([]string{"ticket_id", "project_id", "similarity", "matched_by", "highlight"}, find.FieldNames(),
		[]string{"created_at", "updated_at", "status_category", "links", "comment", "explain"})
	wholeTicket = slices.Concat([]string{"ticket_id", "ticket_key", "project_key", "project_name", "status", "status_category"}, find.FieldNames(),
		[]string{"resolved_at", "created_at", "updated_at", "links", "comment_count"})
	duplicateFields = []string{"ticket_key", "ticket_name", "status", "text", "duplicate_score", "likely_duplicate"}
	sourceFields    = []string{"type", "ticket_key", "ticket_name", "project_name", "document_id", "title", "text", "cited"}
	moreOfSource    = []string{"similarity", "ticket_id", "project_id", "comment", "chunk_id"}
	documentFields  = []string{"id", "title", "text"}
	moreOfDocument  = []string{"similarity", "final_score", "keyword_score", "utility_boost", "freshness_boost", "temporal_weight", "keywords", "temporal_class"}
)

var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[filters]():      {Types: []string{"object", "null"}, Description: filterForms()},
	reflect.TypeFor[sameFilters]():  {Types: []string{"object", "null"}, Description: "As search_tickets takes them."},
	reflect.TypeFor[id]():           {Types: []string{"string", "integer", "null"}},
	reflect.TypeFor[ticketMore]():   fields(ticketFields, moreOfTicket),
	reflect.TypeFor[sourceMore]():   fields(sourceFields, moreOfSource),
	reflect.TypeFor[documentMore](): fields(documentFields, moreOfDocument),
}

// fields is the schema of the argument fields.
func fields(usual, more []string) *jsonschema.Schema {
	names := []any{}
	for _, name := range slices.Concat(usual, more) {
		names = append(names, name)
	}
	return &jsonschema.Schema{
		Types: []string{"array", "null"}, Items: &jsonschema.Schema{Type: "string", Enum: names},
		Description: "What results show besides " + strings.Join(usual, ", ") + ". text: whole instead of clipped.",
	}
}

// filterForms names the filters by what they take. The API validates them.
func filterForms() string {
	var of filter.Members
	names := map[filter.Kind][]string{filter.Names: {"labels", "labels_all (all of them)"}}
	var ranges []string
	for _, member := range of.Typed() {
		switch member.Value.(type) {
		case *filter.Values:
			names[member.Kind] = append(names[member.Kind], member.Name)
		case *filter.Range:
			ranges = append(ranges, member.Name)
		}
	}
	named := func(kind filter.Kind) string { return strings.Join(names[kind], ", ") }
	return "All members must hold; of a list, any. " + named(filter.IDs) + ": keys or ids. " + named(filter.Names) + ": lists of names, in any case. " +
		named(filter.People) + ": a person, or me. " + strings.Join(ranges, ", ") + ": {from, to}, days such as 2026-01-31, both included. open: true or false. " +
		"not: an object of these to leave out. list_values has the names."
}

// addLimits gives the arguments of a tool the limits that a request's tags state; see
// server/api/tags.go.
func addLimits(schema *jsonschema.Schema, request reflect.Type) {
	for _, field := range reflect.VisibleFields(request) {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("path"), field.Tag.Get("query")), ",")
		argument := schema.Properties[name]
		if argument == nil {
			continue
		}
		for tag, value := range map[string]any{"min": &argument.Minimum, "max": &argument.Maximum, "length": &argument.MaxLength, "maxlen": &argument.MaxLength} {
			if text, has := field.Tag.Lookup(tag); has && json.Unmarshal([]byte(text), value) != nil {
				panic("not a number in a tag: " + text)
			}
		}
		if values, has := field.Tag.Lookup("enum"); has {
			argument.Enum = []any{nil} // counts as absent
			for value := range strings.SplitSeq(values, ",") {
				argument.Enum = append(argument.Enum, value)
			}
		}
		if text := field.Tag.Get("default"); text != "" {
			if argument.Default = json.RawMessage(text); !json.Valid(argument.Default) {
				argument.Default = json.RawMessage(strconv.Quote(text))
			}
		}
	}
}

// number is an id as a number, or what the API will refuse.
func number(i id) any {
	if number, err := strconv.ParseInt(show(i), 10, 64); err == nil {
		return number
	}
	return i
}

// maxReach is that of pages, as the API has it for a search.
const maxReach = 1000

// paging is the requested page of a list.
type paging struct {
	Limit *int `json:"limit,omitempty" min:"1" max:"50" jsonschema:"Results a page."`
	Page  *int `json:"page,omitempty" min:"1"`
}

// begin returns the number of a page, its length and how many results are before it.
func (p paging) begin(usual int) (page, limit, offset int, err error) {
	page, limit = or(p.Page, 1), or(p.Limit, usual)
	if page > maxReach/limit {
		return 0, 0, 0, refuse("page: must be at most %d where limit is %d. Correct it and call again.", maxReach/limit, limit)
	}
	return page, limit, (page - 1) * limit, nil
}

// or returns an argument, or its default.
func or[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}
