package search

import (
	"context"
	"time"

	"tasklens/internal/vector"
)

const (
	// hybridBudget is how long a hybrid search waits for the embedding of its query: keyword search is done long before. It
	// is several times what a provider that is well takes.
	hybridBudget = 1200 * time.Millisecond
	// embedBudget is how long is waited for an embedding without which there is no answer.
	embedBudget = 5 * time.Second
)

// Embed embeds a text without whose embedding nothing can be found. It waits embedBudget at most: a provider that has not
// answered by then hangs, and its caller shall hear so while somebody still waits. fault.Timeout then.
func Embed(ctx context.Context, model Model, text string) (vector.Vector, error) {
	return embed(ctx, model, text, embedBudget)
}

func embed(ctx context.Context, model Model, text string, budget time.Duration) (vector.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	vectors, _, err := model.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
