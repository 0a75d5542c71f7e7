package search

import (
	"context"

	"tasklens/internal/rpc"
)

// Facets count the matches of a query by the values of each filter that tasklens.ticket_members of
// the database counts: by the facet's name (status, assignee …), largest first. Each is counted
// without the query's own filter on it.
type Facets map[string][]FacetValue

// FacetValue is a value with at least one match.
type FacetValue struct {
	_ struct{} `schema:"FacetValue"`

	Value any    `json:"value" doc:"What the filter takes."`
	Label string `json:"label" doc:"As most tickets write it."`
	Count int64  `json:"count" min:"1" max:"10000"`
}

// countFacets also reports whether some facet has more matches than were counted (10,000).
func countFacets(ctx context.Context, db rpc.Caller, matching map[string]any) (facets Facets, capped bool, err error) {
	rows, err := rpc.All[struct {
		Facet  string `json:"facet"`
		Value  *int64 `json:"value"`
		Label  string `json:"label"`
		Count  int64  `json:"count"`
		Capped bool   `json:"capped"`
	}](ctx, db, "search_facets", matching)
	if err != nil {
		return nil, false, err
	}
	facets = Facets{"status": {}, "project": {}} // which every tracker has
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
