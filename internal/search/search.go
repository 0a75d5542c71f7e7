// Package search finds tickets and projects by keywords and by meaning, and similar tickets.
// Ranking and counting happen in the database. This package waits for the query's embedding, passes
// filters and pages on, and falls back to keyword search when the model fails.
package search

import (
	"context"

	"tasklens/internal/vector"
)

// Embedding is the embedding of a query, possibly still in flight.
type Embedding interface {
	Model() string                                     // the embedding model
	Vector(ctx context.Context) (vector.Vector, error) // waits for the result
}

// How the database fuses the two lists.
const (
	RRF    = "rrf"    // by ranks; the default
	Convex = "convex" // by scores
)

// The searches that Searcher.Hybrid can run.
const (
	Both        = "hybrid"  // by meaning and by keywords; the default
	KeywordOnly = "keyword" // nothing is embedded
)

// The sort orders of a list.
const (
	Relevance = "relevance" // the default
	Newest    = "newest"    // by creation time
	Updated   = "updated"   // by time of the last change
)

// Weights multiply the contribution of each search to the fused score. The published measurements
// are with 1 each.
type Weights struct {
	Vector  float64
	Keyword float64
}

// Searcher answers searches. It is safe for concurrent use.
type Searcher struct {
	weights Weights
	warn    func(ctx context.Context, message string, err error)
}

// New returns a Searcher. warn is called when a search continues without its embedding.
func New(weights Weights, warn func(ctx context.Context, message string, err error)) *Searcher {
	return &Searcher{weights: weights, warn: warn}
}
