package search

import (
	"context"
	"time"

	"tasklens/internal/vector"
)

const (
	// hybridBudget is how long a hybrid search waits for the embedding of its query: keyword search
	// is done long before. It is several times what a provider that is well takes.
	hybridBudget = 1200 * time.Millisecond
	// embedBudget is how long is waited for an embedding without which there is no answer.
	embedBudget = 5 * time.Second
)

// Await waits for an embedding without which nothing can be found, embedBudget at most: a provider
// that has not answered by then hangs, and its caller shall hear so while somebody still waits.
// fault.Timeout then.
func Await(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, embedBudget)
	defer cancel()
	return embedding.Vector(ctx)
}

// inTime waits for hybridBudget, and for half of the time that is left at most: keyword search must
// have its turn.
func inTime(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	budget := hybridBudget
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return embedding.Vector(ctx)
}
