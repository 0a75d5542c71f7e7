// Package search finds tickets and projects by words and by meaning, and tickets that are like
// another. Ranking and counting are the database's: this package waits for the embedding of what is
// asked for, passes filters and pages on, and goes on with words alone when the model cannot be
// asked.
package search

import (
	"context"

	"tasklens/internal/vector"
)

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Embedding is that of a query. It may still be on its way.
type Embedding interface {
	Model() string                                     // by which it is made
	Vector(ctx context.Context) (vector.Vector, error) // waits for it
}

// The ways in which the database makes one list of two.
const (
	RRF    = "rrf"    // by ranks; the default
	Convex = "convex" // by scores
)

// The searches that Searcher.Hybrid can run.
const (
	Both        = "hybrid"  // by meaning and by keywords; the default
	KeywordOnly = "keyword" // nothing is embedded
)

// The orders of a list.
const (
	Relevance = "relevance" // the default
	Newest    = "newest"    // by when a ticket was filed
	Updated   = "updated"   // by when it last changed
)

// Weights are factors on what each search adds to the fused score; 1 each is the fusion as it was
// measured.
type Weights struct {
	Vector  float64
	Keyword float64
}

// Searcher answers searches. It is safe for concurrent use.
type Searcher struct {
	weights Weights
	warn    func(ctx context.Context, message string, err error)
}

// New makes a searcher. warn is told when a search had to go on without its embedding.
func New(weights Weights, warn func(ctx context.Context, message string, err error)) *Searcher {
	return &Searcher{weights: weights, warn: warn}
}
