package worker

import (
	"context"
	"fmt"

	"tasklens/internal/index"
)

// sampled is the number of sources read to estimate the tokens of all.
const sampled = 100

// Measurer counts the tokens that sources would cost.
type Measurer interface {
	Measure(ctx context.Context, db index.Database, sources []index.Source, anew bool) (tokens, characters int, err error)
}

// Missing is what a backfill would embed.
type Missing struct {
	Sources int // with a text but without a chunk of the model, or all with a text
	Tokens  int // that would be sent to the model: counted up to 100 sources, otherwise estimated from 100 random ones
}

// MeasureMissing returns what EnqueueMissing would queue.
func MeasureMissing(ctx context.Context, db Database, measurer Measurer, model string, everything bool) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": model, "everything": everything}, false)
}

// MeasureAnew returns the cost of embedding everything in a set of chunks again, with any model.
func MeasureAnew(ctx context.Context, db Database, measurer Measurer, set int) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": "", "everything": true, "embedding_set": set}, true)
}

func measure(ctx context.Context, db Database, measurer Measurer, arguments map[string]any, anew bool) (Missing, error) {
	var rows []struct {
		Sources    int
		Characters int
		Sample     []int64
	}
	arguments["sample_count"] = sampled
	err := db.Call(ctx, "measure_missing_embeddings", arguments, &rows)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("measure_missing_embeddings returned %d rows", len(rows))
	}
	if err != nil {
		return Missing{}, fmt.Errorf("measure what is missing: %w", err)
	}
	missing := Missing{Sources: rows[0].Sources}
	if missing.Sources == 0 {
		return missing, nil
	}
	sources := make([]index.Source, len(rows[0].Sample))
	for i, id := range rows[0].Sample {
		sources[i] = index.Source{ID: id}
	}
	tokens, characters, err := measurer.Measure(ctx, db, sources, anew)
	if err != nil {
		return Missing{}, fmt.Errorf("measure what is missing: %w", err)
	}
	missing.Tokens = tokens
	if missing.Sources > len(sources) && characters > 0 {
		missing.Tokens = int(float64(tokens) / float64(characters) * float64(rows[0].Characters))
	}
	return missing, nil
}

// EnqueueMissing queues, behind recent edits, all sources that have a text but no chunk of the
// model or, with everything, all that have a text. It returns how many were added to the queue.
func EnqueueMissing(ctx context.Context, db Database, model string, everything bool) (added int, err error) {
	err = db.Call(ctx, "enqueue_missing_embeddings", map[string]any{"embedding_model": model, "everything": everything}, &added)
	if err != nil {
		return 0, fmt.Errorf("ask for what is missing: %w", err)
	}
	return added, nil
}
