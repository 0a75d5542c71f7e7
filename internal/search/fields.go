package search

import (
	"reflect"
	"strings"
)

// Fields are a ticket's fields in a search result, beside its names, its status and its times.
// Absent: the ticket has none. They are those that people filter by and get_ticket has too; what a
// result alone has is in Hit.
type Fields struct {
	Assignee *string  `json:"assignee,omitempty" may:"ticket" doc:"As the tracker names people."`
	Reporter *string  `json:"reporter,omitempty" may:"ticket"`
	Type     *string  `json:"type,omitempty" may:"ticket"`
	Priority *string  `json:"priority,omitempty" may:"ticket"`
	Labels   []string `json:"labels,omitempty" may:"ticket" min:"1"`
	DueDate  *string  `json:"due_date,omitempty" may:"ticket" format:"date"`
}

// TicketFields are the Fields of a whole ticket. Null: the ticket has none.
type TicketFields struct {
	Assignee *string  `json:"assignee" example:"Lena" doc:"As the tracker names people."`
	Reporter *string  `json:"reporter"`
	Type     *string  `json:"type" example:"Bug"`
	Priority *string  `json:"priority" example:"High"`
	Labels   []string `json:"labels" example:"[\"payments\"]"`
	DueDate  *string  `json:"due_date" format:"date"`
}

// What one has, the other has too.
var _ = TicketFields(Fields{})

// FieldNames returns the names of Fields in JSON.
func FieldNames() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[TicketFields]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// typeColumn is the column of database functions that does not have its field's name.
type typeColumn struct {
	TicketType *string `json:"ticket_type"`
}

// Link is a link to another ticket that the caller may see.
type Link struct {
	_ struct{} `schema:"TicketLink"`

	Kind       string `json:"kind" enum:"duplicates,blocks,relates_to,child_of"`
	Direction  string `json:"direction" enum:"out,in" example:"in" doc:"~out~ reads from the result to the other ticket."`
	TicketKey  string `json:"ticket_key" example:"TX-402"`
	TicketName string `json:"ticket_name" example:"Order paid two times!!"`
	Status     string `json:"status" example:"Won't Do"`
}
