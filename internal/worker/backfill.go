package worker

import (
	"context"
	"fmt"

	"tasklens/internal/index"
	"tasklens/internal/rpc"
)

// sampled is the number of sources read to estimate the tokens of all.
const sampled = 100

// Measurer counts the tokens that sources would cost.
type Measurer interface {
	Measure(ctx context.Context, db rpc.Caller, sources []index.Source, anew bool) (tokens, characters int, err error)
}

// Missing is what a backfill would embed.
type Missing struct {
	Sources int // with a text but without a chunk of the model, or all with a text
	Tokens  int // that would be sent to the model: counted up to 100 sources, otherwise estimated from 100 random ones
}

// MeasureMissing returns what EnqueueMissing would queue.
func MeasureMissing(ctx context.Context, db rpc.Caller, measurer Measurer, model string, everything bool) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": model, "everything": everything}, false)
}

// MeasureAnew returns the cost of embedding everything in a set of chunks again, with any model.
func MeasureAnew(ctx context.Context, db rpc.Caller, measurer Measurer, set int) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": "", "everything": true, "embedding_set": set}, true)
}

func measure(ctx context.Context, db rpc.Caller, measurer Measurer, arguments map[string]any, anew bool) (Missing, error) {
	arguments["sample_count"] = sampled
	all, err := rpc.One[struct {
		Sources    int
		Characters int
		Sample     []int64
	}](ctx, db, "measure_missing_embeddings", arguments)
	if err != nil {
		return Missing{}, err
	}
	sources := make([]index.Source, len(all.Sample))
	for i, id := range all.Sample {
		sources[i] = index.Source{ID: id}
	}
	tokens, characters, err := measurer.Measure(ctx, db, sources, anew)
	if err != nil {
		return Missing{}, fmt.Errorf("measure what is missing: %w", err)
	}
	if all.Sources > len(sources) && characters > 0 {
		tokens = int(float64(tokens) / float64(characters) * float64(all.Characters))
	}
	return Missing{Sources: all.Sources, Tokens: tokens}, nil
}

// EnqueueMissing queues, behind recent edits, all sources that have a text but no chunk of the
// model or, with everything, all that have a text. It returns how many were added to the queue.
func EnqueueMissing(ctx context.Context, db rpc.Caller, model string, everything bool) (added int, err error) {
	return rpc.Value[int](ctx, db, "enqueue_missing_embeddings", map[string]any{"embedding_model": model, "everything": everything})
}
