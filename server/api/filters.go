package api

import (
	"context"
	"maps"
	"reflect"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/filter"
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

// readAs reports how a query with filters or exclusions in its text was parsed.
type readAs struct {
	_ struct{} `doc:"How the query was read. Absent if nothing in it is a filter or excluded."`

	Text     string         `json:"text" doc:"What was searched for; empty if the query is filters alone."`
	Filters  filter.Members `json:"filters"`
	Excluded []string       `json:"excluded,omitempty" min:"1" example:"[\"voucher\"]" doc:"What was left out: words, phrases in quotes and keys after a minus, as typed."`
}

// readText separates the filters in a query from its text. unresolved: names of which a filter is
// text.
func readText(ctx context.Context, who *caller, query string, unresolved filter.Stored) (text string, typed filter.Members, err error) {
	now := time.Now()
	_, _, asked, err := filter.ReadText(query, now, nil)
	if err == nil {
		stored := filter.Stored{}
		if len(asked) > 0 {
			if stored, err = search.Stored(ctx, who.db, asked, false); err != nil {
				return "", filter.Members{}, err
			}
		}
		maps.Copy(stored, unresolved)
		text, typed, _, err = filter.ReadText(query, now, stored)
	}
	if err != nil {
		err = fault.InvalidFields(fault.Field{Name: "query", Message: err.Error()})
	}
	return text, typed, err
}

// narrow parses the filters in a query's text and adds them to the others.
func (a *API) narrow(ctx context.Context, who *caller, query *search.Query) (*readAs, error) {
	text, typed, err := readText(ctx, who, query.Text, filter.Stored{})
	if err != nil {
		return nil, err
	}
	query.Filters = query.Filters.And(typed)
	query.Typed, query.Text = query.Text, text
	if query.Text == "" && query.Sort == search.Relevance {
		query.Sort = search.Newest
	}
	if typed.IsZero() {
		return nil, nil
	}
	return &readAs{Text: text, Filters: typed}, nil
}
