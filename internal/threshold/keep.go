package threshold

import (
	"context"
	"fmt"
	"slices"

	"tasklens/internal/chunk"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Missing returns the models without a complete measurement by the current judged set.
func Missing(models []string, measured []Measured) (missing []string) {
	for _, model := range models {
		for _, width := range Widths {
			by := func(m Measured) bool { return m.Model == model && m.Dimensions == width && m.JudgedSet == judgedSet() }
			if !slices.ContainsFunc(measured, by) && !slices.Contains(missing, model) {
				missing = append(missing, model)
			}
		}
	}
	return missing
}

// MeasureAndStore measures models and stores the results in the database, for all instances.
func MeasureAndStore(ctx context.Context, db Database, model Model, tokenizer chunk.Tokenizer, names []string) (all []Measured, err error) {
	for _, name := range names {
		measured, err := Measure(ctx, model, name, tokenizer)
		if err != nil {
			return all, fmt.Errorf("measure the threshold of %s: %w", name, err)
		}
		if err := db.Call(ctx, "store_match_thresholds", map[string]any{"thresholds": measured}, nil); err != nil {
			return all, fmt.Errorf("store the threshold of %s: %w", name, err)
		}
		all = append(all, measured...)
	}
	return all, nil
}
