package search

import (
	"context"
	"time"

	"tasklens/internal/vector"
)

const (
	// hybridBudget is how long a hybrid search waits for the embedding of its query, several times
	// what a healthy provider takes. Keyword search finishes long before.
	hybridBudget = 1200 * time.Millisecond
	// embedBudget is how long a request waits that cannot do without its embedding.
	embedBudget = 5 * time.Second
)

// Await waits for an embedding that the request needs, for embedBudget at most, so that the caller
// learns of a hanging provider before it gives up. fault.Timeout then.
func Await(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, embedBudget)
	defer cancel()
	return embedding.Vector(ctx)
}

// inTime waits for hybridBudget, and at most for half of the remaining time, which leaves keyword
// search its share.
func inTime(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	budget := hybridBudget
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return embedding.Vector(ctx)
}
