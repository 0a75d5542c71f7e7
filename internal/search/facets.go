package search

import (
	"context"
	"fmt"

	"tasklens/internal/rpc"
)

// Facets count the matches of a query by the values of each filter that tasklens.ticket_members of
// the database counts: by the facet's name (status, assignee …), largest first. Each is counted
// without the query's own filter on it.
type Facets map[string][]FacetValue

// newFacets are the facets without a match: statuses and projects, which every tracker has, are
// always there.
func newFacets() Facets { return Facets{"status": {}, "project": {}} }

// FacetValue is a value with at least one match.
type FacetValue struct {
	_ struct{} `schema:"FacetValue"`

	Value any    `json:"value" doc:"What the filter takes."`
	Label string `json:"label" doc:"As most tickets write it."`
	Count int64  `json:"count" min:"1" max:"10000"`
}

// countFacets also reports whether some facet has more matches than were counted (10,000).
func countFacets(ctx context.Context, db rpc.Caller, matching map[string]any) (facets Facets, capped bool, err error) {
	var rows []struct {
		Facet  string `json:"facet"`
		Value  *int64 `json:"value"`
		Label  string `json:"label"`
		Count  int64  `json:"count"`
		Capped bool   `json:"capped"`
	}
	if err := db.Call(ctx, "search_facets", matching, &rows); err != nil {
		return nil, false, fmt.Errorf("count facets: %w", err)
	}
	facets = newFacets()
	for _, row := range rows {
		value := FacetValue{Value: row.Label, Label: row.Label, Count: row.Count}
		switch {
		case row.Value != nil:
			value.Value = *row.Value
		case row.Facet == "open":
			value.Value = row.Label == "open"
		}
		facets[row.Facet] = append(facets[row.Facet], value)
		capped = capped || row.Capped
	}
	return facets, capped, nil
}
