package search

import (
	"context"
	"time"

	"tasklens/internal/vector"
)

// How long a request waits for an embedding: so long, or this part of the time that it has left, if
// that is more. REQUEST_TIMEOUT thereby says how slow a model may be.
const (
	hybridBudget, hybridPart = 1200 * time.Millisecond, 25 // of a hybrid search; keyword search finishes long before
	embedBudget, embedPart   = 5 * time.Second, 6          // of what cannot do without
)

// Budget returns least, or this part of the remaining time if that is more.
func Budget(ctx context.Context, least time.Duration, part int) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(least, time.Until(deadline)/time.Duration(part))
	}
	return least
}

// Await waits for an embedding that the request needs, so that the caller learns of a hanging
// provider before it gives up. fault.Timeout then.
func Await(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, Budget(ctx, embedBudget, embedPart))
	defer cancel()
	return embedding.Vector(ctx)
}

// inTime waits for half of the remaining time at most, which leaves keyword search its share.
func inTime(ctx context.Context, embedding Embedding) (vector.Vector, error) {
	budget := Budget(ctx, hybridBudget, hybridPart)
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return embedding.Vector(ctx)
}
