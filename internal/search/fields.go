package search

import (
	"reflect"
	"strings"
	"time"
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
	URL      *string  `json:"url,omitempty" may:"ticket" format:"uri" doc:"The address of its page in its tracker."`
}

// TicketFields are the Fields of a whole ticket. Null: the ticket has none.
type TicketFields struct {
	Assignee *string  `json:"assignee" example:"Lena" doc:"As the tracker names people."`
	Reporter *string  `json:"reporter"`
	Type     *string  `json:"type" example:"Bug"`
	Priority *string  `json:"priority" example:"High"`
	Labels   []string `json:"labels" example:"[\"payments\"]"`
	DueDate  *string  `json:"due_date" format:"date"`
	URL      *string  `json:"url" format:"uri" example:"https://github.com/tidemill/rotor/issues/31" doc:"The address of its page in its tracker."`
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

// Details are all that a search result has beside names and texts, as the database returns it. Of a
// project: its times.
type Details struct {
	Fields
	CreatedAt      *time.Time `json:"created_at,omitempty" of:"ticket,project" example:"2026-01-05T09:00:00Z"`
	UpdatedAt      *time.Time `json:"updated_at,omitempty" of:"ticket,project" example:"2026-01-07T09:12:33.5Z"`
	StatusCategory *string    `json:"status_category,omitempty" of:"ticket" example:"done" enum:"to_do,in_progress,done"`
	Links          []Link     `json:"links,omitempty" may:"ticket" min:"1" max:"20"`
}

// TicketDetails are the Details of a whole ticket.
type TicketDetails struct {
	TicketFields
	ResolvedAt *time.Time `json:"resolved_at" example:"2025-03-04T10:00:00+00:00"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	Links      []Link     `json:"links" max:"20"`
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
