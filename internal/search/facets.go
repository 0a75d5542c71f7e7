package search

import (
	"context"
	"fmt"
)

// Facets tell how many of a query's matches each status and each project has, the most first. Those of a query's status
// filter are counted as if it had none, and so are those of its project filter.
type Facets struct {
	Status  []FacetValue
	Project []FacetValue
	Capped  bool // there are more matches than were counted (10,000), of either facet
}

// FacetValue is a status or a project with at least one match.
type FacetValue struct {
	Value int64  `json:"value"` // its id
	Label string `json:"label"` // its name
	Count int64  `json:"count"`
}

func countFacets(ctx context.Context, db Database, matching map[string]any) (*Facets, error) {
	var rows []struct {
		Facet string `json:"facet"`
		FacetValue
		Capped bool `json:"capped"`
	}
	if err := db.Call(ctx, "search_facets", matching, &rows); err != nil {
		return nil, fmt.Errorf("count facets: %w", err)
	}
	facets := &Facets{Status: []FacetValue{}, Project: []FacetValue{}}
	for _, row := range rows {
		facets.Capped = facets.Capped || row.Capped
		switch row.Facet {
		case "status":
			facets.Status = append(facets.Status, row.FacetValue)
		case "project":
			facets.Project = append(facets.Project, row.FacetValue)
		default:
			return nil, fmt.Errorf("count facets: unknown facet %q", row.Facet)
		}
	}
	return facets, nil
}
