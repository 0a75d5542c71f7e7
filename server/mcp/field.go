package mcp

import (
	"slices"

	"tasklens/internal/filter"
	find "tasklens/internal/search"
)

// What tools show of a ticket.
var (
	ticketFields = []string{"ticket_key", "ticket_name", "status", "project_name", "text"} // of a result, unless others are requested
	moreOfTicket = slices.Concat([]string{"text", "ticket_id", "project_id", "similarity", "matched_by", "highlight"}, find.FieldNames(),
		[]string{"created_at", "updated_at", "status_category", "links", "comment", "explain"})
	wholeTicket = slices.Concat([]string{"ticket_id", "ticket_key", "project_key", "project_name", "status", "status_category"}, find.FieldNames(),
		[]string{"resolved_at", "created_at", "updated_at", "links", "comment_count"})
)

// filters is the schema of the argument filters. The API document has the details; a model needs
// the names.
func filters() schema {
	names := func(description string) schema { return list(description, schema{"type": "string"}) }
	members := schema{
		"open":   schema{"type": "boolean", "description": "true: only tickets that are not done."},
		"labels": names("Any of these."), "labels_all": names("All of these."),
	}
	var of filter.Filters
	for _, l := range of.Lists() {
		switch l.Kind {
		case filter.IDs:
			members[l.Name] = list("Keys or ids, as list_projects gives them.", schema{"type": []string{"string", "integer"}})
		case filter.People:
			members[l.Name] = text("A person as the tracker names them, or me.")
		default:
			if l.Example == "" {
				members[l.Name] = names("Names of " + l.Name + ", as list_projects gives them.")
			} else {
				members[l.Name] = names("Such as " + l.Example + ".")
			}
		}
	}
	for _, span := range of.Spans() {
		members[span.Name] = schema{"type": "object", "properties": schema{"from": schema{"type": "string"}, "to": schema{"type": "string"}},
			"description": "Days such as 2026-01-31, inclusive. Either end may be left out."}
	}
	return schema{
		"type": "object", "description": "Narrows what is looked at; all that are given must hold. Names are compared without regard to case; a list is \"any of\".",
		"properties": members,
	}
}
