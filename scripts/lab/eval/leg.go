package eval

import (
	"context"
	"fmt"
	"slices"

	"tasklens/internal/collection"
)

const (
	pageSize = 100  // the greatest that the service gives
	reach    = 1000 // and how far its pages go
)

// keyword is the ranking by words alone. No similarity is over the threshold 1, so the service
// lists what the words found.
func (s Service) keyword(ctx context.Context, query collection.Query) ([]string, error) {
	var most float64 = 1
	p, err := s.search(ctx, query.Text, &most, pageSize, 0)
	ranked := make([]string, depth)
	for _, h := range p.Results {
		place(ranked, h.KeywordRank, h)
	}
	return ended(ranked), err
}

// listed is the list of the service with its own threshold.
func (s Service) listed(ctx context.Context, query collection.Query) ([]string, error) {
	p, err := s.search(ctx, query.Text, nil, pageSize, 0)
	return items(p.Results), err
}

// open is what the service finds with the threshold 0, which cuts no ranking off: the ranking by
// vectors alone, and the list. What the vectors alone found stands behind what both found, however
// far down, so pages are read until the ranking by vectors is there.
func (s Service) open(ctx context.Context, query collection.Query) (vector, list []string, err error) {
	var least float64
	vector = make([]string, depth)
	for offset := 0; offset < reach && slices.Contains(vector, ""); offset += pageSize {
		p, err := s.search(ctx, query.Text, &least, pageSize, offset)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, items(p.Results)...)
		for _, h := range p.Results {
			place(vector, h.VectorRank, h)
		}
		if !p.HasMore {
			break
		}
	}
	return ended(vector), list, nil
}

// similar is what the service calls most similar to a draft of the query's words.
func (s Service) similar(ctx context.Context, query collection.Query) ([]string, error) {
	var p page
	if err := s.post(ctx, "/api/tickets/similar", map[string]any{"text": query.Text, "limit": pageSize}, &p); err != nil {
		return nil, fmt.Errorf("find tickets like %q: %w", query.Text, err)
	}
	return items(p.Results), nil
}

func items(hits []hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.item())
	}
	return out
}

// place puts a hit where its rank (from 1) says, if the ranking goes so far.
func place(ranked []string, rank *int, h hit) {
	if rank != nil && *rank >= 1 && *rank <= len(ranked) {
		ranked[*rank-1] = h.item()
	}
}

// ended cuts off the places behind the last one that is taken.
func ended(ranked []string) []string {
	for len(ranked) > 0 && ranked[len(ranked)-1] == "" {
		ranked = ranked[:len(ranked)-1]
	}
	return ranked
}
