package worker

import (
	"context"
	"fmt"

	"tasklens/internal/index"
)

// sampled is how many sources are read to see how many tokens their texts have.
const sampled = 100

// Measurer tells how many tokens sources would cost.
type Measurer interface {
	Measure(ctx context.Context, db index.Database, sources []index.Source, anew bool) (tokens, characters int, err error)
}

// Missing is what a backfill would embed.
type Missing struct {
	Sources int // that have a text but no chunk of the model, or all that have a text
	Tokens  int // of what would be sent to the model: counted, or, of more than 100 sources, estimated by 100 picked at random
}

// MeasureMissing tells what EnqueueMissing would ask for.
func MeasureMissing(ctx context.Context, db Database, measurer Measurer, model string, everything bool) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": model, "everything": everything}, false)
}

// MeasureAnew tells what it takes to embed all that a set of chunks is made of anew, by whatever
// model.
func MeasureAnew(ctx context.Context, db Database, measurer Measurer, set int) (Missing, error) {
	return measure(ctx, db, measurer, map[string]any{"embedding_model": "", "everything": true, "embedding_set": set}, true)
}

func measure(ctx context.Context, db Database, measurer Measurer, arguments map[string]any, anew bool) (Missing, error) {
	var rows []struct {
		Sources    int
		Characters int
		Sample     []source
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
	for i, s := range rows[0].Sample {
		sources[i] = s.toIndex()
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

// EnqueueMissing asks for all sources that have a text but no chunk of the model, or, with
// everything, for all that have a text, behind fresh edits. It returns how many were added to those
// that wait already.
func EnqueueMissing(ctx context.Context, db Database, model string, everything bool) (added int, err error) {
	err = db.Call(ctx, "enqueue_missing_embeddings", map[string]any{"embedding_model": model, "everything": everything}, &added)
	if err != nil {
		return 0, fmt.Errorf("ask for what is missing: %w", err)
	}
	return added, nil
}
