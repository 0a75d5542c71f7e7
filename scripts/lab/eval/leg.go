package eval

import (
	"context"
	"slices"
)

const (
	pageSize = 100  // the service's maximum
	reach    = 1000 // the service's maximum depth of paging
)

// keyword returns the keyword ranking. No similarity passes the threshold 1, so only keyword
// matches are listed.
func (s Service) keyword(ctx context.Context, query Query) ([]string, error) {
	var most float64 = 1
	p, err := s.search(ctx, query.Text, &most, pageSize, 0)
	ranked := make([]string, depth)
	for _, h := range p.Results {
		place(ranked, h.KeywordRank, h)
	}
	return ended(ranked), err
}

// listed returns the service's list with its own threshold.
func (s Service) listed(ctx context.Context, query Query) ([]string, error) {
	p, err := s.search(ctx, query.Text, nil, pageSize, 0)
	var keys []string
	for _, h := range p.Results {
		keys = append(keys, h.item())
	}
	return keys, err
}

// vector returns the vector ranking, from searches with threshold 0, which cut nothing off. Items
// found only by vector come after those found by both legs, however far down, so pages are read
// until the ranking is complete.
func (s Service) vector(ctx context.Context, query Query) ([]string, error) {
	var least float64
	ranked := make([]string, depth)
	for offset := 0; offset < reach && slices.Contains(ranked, ""); offset += pageSize {
		p, err := s.search(ctx, query.Text, &least, pageSize, offset)
		if err != nil {
			return nil, err
		}
		for _, h := range p.Results {
			place(ranked, h.VectorRank, h)
		}
		if !p.HasMore {
			break
		}
	}
	return ended(ranked), nil
}

// place puts a hit at its rank (from 1), if the ranking is long enough.
func place(ranked []string, rank *int, h hit) {
	if rank != nil && *rank >= 1 && *rank <= len(ranked) {
		ranked[*rank-1] = h.item()
	}
}

// ended removes the empty places at the end.
func ended(ranked []string) []string {
	for len(ranked) > 0 && ranked[len(ranked)-1] == "" {
		ranked = ranked[:len(ranked)-1]
	}
	return ranked
}
