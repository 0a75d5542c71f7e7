package search

import (
	"reflect"
	"time"
)

// Fields are what a ticket has beside its names and texts, as tasklens.ticket_fields of the
// database gives them. Null: it has none. A project has its times alone.
type Fields struct {
	StatusCategory *string    `json:"status_category" of:"ticket" enum:"to_do,in_progress,done" example:"done"`
	Assignee       *string    `json:"assignee" may:"ticket" example:"Lena" doc:"As the tracker names people."`
	Reporter       *string    `json:"reporter" may:"ticket"`
	Type           *string    `json:"type" may:"ticket" example:"Bug"`
	Priority       *string    `json:"priority" may:"ticket" example:"High"`
	Labels         []string   `json:"labels" of:"ticket" example:"[\"payments\"]"`
	DueDate        *string    `json:"due_date" may:"ticket" format:"date"`
	URL            *string    `json:"url" may:"ticket" format:"uri" example:"https://github.com/tidemill/rotor/issues/31" doc:"The address of its page in its tracker."`
	ResolvedAt     *time.Time `json:"resolved_at" may:"ticket" example:"2025-03-04T10:00:00+00:00"`
	CreatedAt      time.Time  `json:"created_at" example:"2026-01-05T09:00:00Z"`
	UpdatedAt      time.Time  `json:"updated_at" example:"2026-01-07T09:12:33.5Z"`
	Links          []Link     `json:"links" of:"ticket" max:"20"`
}

// FieldNames returns the names of Fields in JSON.
func FieldNames() (names []string) {
	for field := range reflect.TypeFor[Fields]().Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	return names
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

// Comment is the author and time of a comment on a ticket.
type Comment struct {
	_ struct{} `schema:"Comment" doc:"The comment that the text is from."`

	CommentID int64     `json:"comment_id" min:"1" example:"12"`
	Author    *string   `json:"author" example:"Ada" doc:"As the tracker names people."`
	CreatedAt time.Time `json:"created_at"`
}
