package mcp

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tasklens/internal/filter"
	find "tasklens/internal/search"
)

// Types of arguments whose schemas are written here.
type (
	filters      map[string]any
	ticketMore   []string
	sourceMore   []string
	documentMore []string
)

// What tools show of a result, and what more the argument fields adds.
var (
	ticketFields    = []string{"ticket_key", "ticket_name", "status", "project_name", "text"}
	moreOfTicket    = slices.Concat([]string{"ticket_id", "project_id", "similarity", "matched_by", "highlight"}, find.FieldNames(), []string{"comment", "explain"})
	wholeTicket     = slices.Concat([]string{"ticket_id", "ticket_key", "project_key", "project_name", "status"}, find.FieldNames(), []string{"comment_count"})
	duplicateFields = []string{"ticket_key", "ticket_name", "status", "text", "duplicate_score", "likely_duplicate"}
	sourceFields    = []string{"type", "ticket_key", "ticket_name", "project_name", "document_id", "title", "text", "cited"}
	moreOfSource    = []string{"similarity", "ticket_id", "project_id", "comment"}
	documentFields  = []string{"id", "title", "text"}
	moreOfDocument  = []string{"similarity", "final_score", "keyword_score", "utility_boost", "freshness_boost", "temporal_weight", "keywords", "temporal_class"}
)

var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[filters]():      filterSchema(),
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
		Type: "array", Items: &jsonschema.Schema{Type: "string", Enum: names},
		Description: "What results show besides " + strings.Join(usual, ", ") + ". text: whole instead of clipped.",
	}
}

// filterSchema has the plainest form of each filter. The API takes more, and validates all.
func filterSchema() *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	list, days := &jsonschema.Schema{Type: "array", Items: text}, closed(map[string]*jsonschema.Schema{"from": text, "to": text})
	names, all := map[string]*jsonschema.Schema{"labels_all": list}, map[string]*jsonschema.Schema{"open": {Type: "boolean"}}
	var of filter.Members
	for _, member := range of.Typed() {
		if _, isRange := member.Value.(*filter.Range); isRange {
			all[member.Name] = days
		} else if names[member.Name] = list; member.Kind == filter.People {
			names[member.Name] = text
		}
	}
	maps.Copy(all, names)
	all["not"] = closed(names)
	return closed(all)
}

// UnmarshalJSON takes a text of digits as the id of a project, too. It may also be a key.
func (f *filters) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, (*object)(f))
	not, _ := (*f)["not"].(object)
	for _, members := range []object{*f, not} {
		list, _ := members["projects"].([]any)
		for _, project := range list {
			if id, err := strconv.ParseUint(show(project), 10, 63); err == nil && id > 0 {
				members["projects"] = append(members["projects"].([]any), id)
			}
		}
	}
	return err
}

// closed is the schema of an object that has no other members.
func closed(members map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: members, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}

// schemaOf is the schema of an In, with the limits of request.
func schemaOf[In any](request any) *jsonschema.Schema {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(err) // a type of arguments that JSON does not have
	}
	addLimits(schema, reflect.TypeOf(request))
	addLimits(schema, reflect.TypeFor[In]()) // what a tool has otherwise
	return schema
}

// addLimits gives the arguments of a tool the limits that a request's tags state; see
// server/api/tags.go. Each has one type: not every client knows lists of types.
func addLimits(schema *jsonschema.Schema, request reflect.Type) {
	for _, field := range reflect.VisibleFields(request) {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("path"), field.Tag.Get("query")), ",")
		argument := schema.Properties[name]
		if argument == nil {
			continue
		}
		for _, one := range argument.Types {
			if argument.Types = nil; one != "null" {
				argument.Type = one
			}
		}
		for tag, value := range map[string]any{"min": &argument.Minimum, "max": &argument.Maximum, "length": &argument.MaxLength, "maxlen": &argument.MaxLength} {
			if text, has := field.Tag.Lookup(tag); has && json.Unmarshal([]byte(text), value) != nil {
				panic("not a number in a tag: " + text)
			}
		}
		if values, has := field.Tag.Lookup("enum"); has {
			argument.Enum = nil
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
