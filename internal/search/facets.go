package search

import (
	"context"
	"fmt"
	"slices"
)

// Facets count the matches of a query by value: status, project, assignee, reporter, type,
// priority, label and open, largest first. Each is counted without the query's own filter on it.
type Facets struct {
	Values map[string][]FacetValue
	Capped bool // some facet has more matches than were counted (10,000)
}

// facetNames are all facets.
var facetNames = []string{"status", "project", "assignee", "reporter", "type", "priority", "label", "open"}

// FacetValue is a value with at least one match.
type FacetValue struct {
	// Value is the id of a status or project, true or false for open, otherwise equal to Label.
	Value any    `json:"value"`
	Label string `json:"label"`
	Count int64  `json:"count"`
}

func countFacets(ctx context.Context, db Database, matching map[string]any) (*Facets, error) {
	var rows []struct {
		Facet  string `json:"facet"`
		Value  *int64 `json:"value"`
		Label  string `json:"label"`
		Count  int64  `json:"count"`
		Capped bool   `json:"capped"`
	}
	if err := db.Call(ctx, "search_facets", matching, &rows); err != nil {
		return nil, fmt.Errorf("count facets: %w", err)
	}
	facets := &Facets{Values: map[string][]FacetValue{}}
	for _, row := range rows {
		if !slices.Contains(facetNames, row.Facet) {
			return nil, fmt.Errorf("count facets: unknown facet %q", row.Facet)
		}
		value := FacetValue{Value: row.Label, Label: row.Label, Count: row.Count}
		switch {
		case row.Value != nil:
			value.Value = *row.Value
		case row.Facet == "open":
			value.Value = row.Label == "open"
		}
		facets.Values[row.Facet] = append(facets.Values[row.Facet], value)
		facets.Capped = facets.Capped || row.Capped
	}
	return facets, nil
}
