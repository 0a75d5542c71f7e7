// Package reembed changes the model, or the chunking, by which tickets are searched, while search
// goes on: another set of chunks is filled beside the one that serves, and takes its place when it
// is complete. It owns the order of the steps, and which model queries are embedded by meanwhile.
// What is in which set, and when a set is complete, is the database's; the embedding itself is the
// workers', who bring what is edited in step in both sets.
package reembed

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/threshold"
	"tasklens/internal/wait"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// State says what the set that does not serve is for.
type State string

// The states of the other set.
const (
	Unused   State = "unused"
	Building State = "building" // filled, to serve next
	Retired  State = "retired"  // served before, or was given up; to be emptied
)

// Recipe is what chunks are made by.
type Recipe struct {
	Model    string
	Chunking int // chunk.Version
}

// Sets are the two sets of chunks.
type Sets struct {
	Serving       int     `json:"serving"`  // 1 or 2
	Model         *string `json:"model"`    // of the serving set; nil before the first change: the configured one
	Chunking      *int    `json:"chunking"` // nil before the first change
	OtherState    State   `json:"other_state"`
	OtherModel    *string `json:"other_model"`
	OtherChunking *int    `json:"other_chunking"`
	// What was measured of models so far, these or others.
	Thresholds []threshold.Measured `json:"match_thresholds"`
}

// IsBy tells whether the serving set is known to be made by a recipe.
func (s Sets) IsBy(r Recipe) bool {
	return s.Model != nil && *s.Model == r.Model && s.Chunking != nil && *s.Chunking == r.Chunking
}

// Models are those by which queries are embedded now or next: the serving set's, which is
// configured where the set has no model of its own, and that of the set that is being built.
func (s Sets) Models(configured string) []string {
	models := []string{configured}
	if s.Model != nil {
		models[0] = *s.Model
	}
	if s.OtherState == Building && s.OtherModel != nil && *s.OtherModel != models[0] {
		models = append(models, *s.OtherModel)
	}
	return models
}

// Read tells which sets there are.
func Read(ctx context.Context, db Database) (Sets, error) {
	var rows []Sets
	err := db.Call(ctx, "embedding_sets", nil, &rows)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("embedding_sets returned %d rows", len(rows))
	}
	if err != nil {
		return Sets{}, fmt.Errorf("read the sets of embeddings: %w", err)
	}
	return rows[0], nil
}

// Begin begins to fill the other set, or goes on: it asks, behind fresh edits, for all that is not
// in it yet, and returns how many sources it added to those that wait already. A set that is
// retired must be emptied before; one that is being built by another recipe stays as it is, and is
// an error.
func Begin(ctx context.Context, db Database, r Recipe) (added int, err error) {
	if err := db.Call(ctx, "begin_reembed", map[string]any{"embedding_model": r.Model, "chunking": r.Chunking}, &added); err != nil {
		return 0, fmt.Errorf("begin another set of embeddings: %w", err)
	}
	return added, nil
}

// Finish lets the other set serve, if it is complete, and tells whether it does.
func Finish(ctx context.Context, db Database) (serves bool, err error) {
	if err := db.Call(ctx, "finish_reembed", nil, &serves); err != nil {
		return false, fmt.Errorf("switch to the other set of embeddings: %w", err)
	}
	return serves, nil
}

// Abandon gives up the set that is being built; false where none is.
func Abandon(ctx context.Context, db Database) (was bool, err error) {
	if err := db.Call(ctx, "abandon_reembed", nil, &was); err != nil {
		return false, fmt.Errorf("give up the other set of embeddings: %w", err)
	}
	return was, nil
}

const (
	// startOver is returned where open transactions held some of the set: the next pass removes
	// what is left.
	startOver = "00000000-0000-0000-0000-000000000000"
	// heldPause is between two passes.
	heldPause = time.Second
)

// Clear empties the retired set, a part at a time. A set that served a moment ago gets a grace
// first, so that queries which were embedded for it are still answered: as long as a request may
// take.
func Clear(ctx context.Context, db Database, grace time.Duration) error {
	if err := wait.For(ctx, grace); err != nil {
		return fmt.Errorf("empty the former set of embeddings: %w", err)
	}
	var after *string
	for {
		var last *string
		if err := db.Call(ctx, "clear_retired_set", map[string]any{"after": after}, &last); err != nil {
			return fmt.Errorf("empty the former set of embeddings: %w", err)
		}
		if last == nil {
			return nil
		}
		after = last
		if *last == startOver {
			if err := wait.For(ctx, heldPause); err != nil {
				return fmt.Errorf("empty the former set of embeddings: %w", err)
			}
		}
	}
}
