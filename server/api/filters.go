package api

import (
	"context"
	"reflect"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
	"tasklens/internal/search"
)

var filtersType = reflect.TypeFor[filter.Filters]()

// narrowed are members of a request that its filters have, too.
type narrowed struct {
	ProjectID    *int64  `json:"project_id" min:"1" example:"1" doc:"An unknown one finds nothing."`
	StatusFilter *string `json:"status_filter" maxlen:"200" example:"To Do" doc:"Only tickets with this status, case ignored; no projects. An unknown one finds nothing, a blank one counts as left out."`
}

// within adds these members to filters.
func (n narrowed) within(filters filter.Filters) filter.Filters {
	var also filter.Members
	if n.ProjectID != nil {
		also.Projects = filter.Values{min(*n.ProjectID, filter.MaxID)} // no project has a greater one
	}
	if n.StatusFilter != nil {
		also.Statuses = filter.Values{*n.StatusFilter}
	}
	return filters.And(also)
}

// readAs reports how a query was read that has filters, an order or exclusions in its text.
type readAs struct {
	_ struct{} `doc:"How the query was read. Absent if nothing in it is, or looks like, a filter, an order or excluded."`

	Text     string         `json:"text" doc:"What was searched for; empty if the query is filters alone."`
	Filters  filter.Members `json:"filters"`
	Excluded []string       `json:"excluded,omitempty" min:"1" example:"[\"voucher\"]" doc:"What was left out: words, phrases in quotes and keys after a minus, as typed."`
}

// typed is a query as the database read it.
type typed struct {
	present
	Text       *string            `json:"text"` // null: it is filters alone
	Filters    filter.Members     `json:"filters"`
	Sort       *string            `json:"sort"`
	Candidates []filter.Candidate `json:"candidates"`
	NotRead    []search.NotRead   `json:"not_read"`
}

// readQuery reads the filters in a query's text and adds them to the others. It comes before the
// query is embedded, which would be paid for in vain while the database is down.
func (a *API) readQuery(ctx context.Context, who *caller, query *search.Query) (typed, error) {
	asked := time.Now()
	read, err := rpc.One[typed](ctx, who.db, "read_query", map[string]any{"query_text": query.Text, "further_filters": query.Filters})
	read.asked = asked
	if err != nil {
		return read, err
	}
	a.complete(&read.present, answer.Tickets)
	query.Typed, query.Text = query.Text, ""
	if read.Text != nil {
		query.Text = *read.Text
	}
	query.Filters = query.Filters.And(read.Filters)
	if query.Sort == search.Relevance && read.Sort != nil {
		query.Sort = *read.Sort
	} else if query.Sort == search.Relevance && query.Text == "" {
		query.Sort = search.Newest
	}
	return read, nil
}
