package search

import (
	"context"
	"fmt"

	"tasklens/internal/vector"
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

func (s *Searcher) facets(ctx context.Context, db Database, q Query, embedding vector.Vector) (*Facets, error) {
	var rows []struct {
		Facet string `json:"facet"`
		FacetValue
		Capped bool `json:"capped"`
	}
	if err := db.Call(ctx, "search_facets", s.arguments(ctx, q, embedding), &rows); err != nil {
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
		}
	}
	return facets, nil
}
