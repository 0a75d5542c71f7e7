// Package reembed changes the model or the chunking of search without interrupting it: a second set
// of chunks is filled beside the serving one and replaces it when complete. It owns the order of
// the steps. The database decides what is in which set, when a set is complete, and by which model
// queries are embedded; workers embed, and keep edits in step in both sets.
package reembed

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"tasklens/internal/chunk"
	"tasklens/internal/rpc"
	"tasklens/internal/threshold"
	"tasklens/internal/wait"
)

// State is the purpose of the set that does not serve; "unused" needs no work.
type State string

const (
	Building State = "building" // being filled, to serve next
	Retired  State = "retired"  // served before or was abandoned; to be emptied
)

// Sets are the two sets of chunks.
type Sets struct {
	Serving       int    `json:"serving"`  // 1 or 2
	Model         string `json:"model"`    // of the serving set; "" before the first change: the configured one
	Chunking      int    `json:"chunking"` // 0 before the first change
	OtherState    State  `json:"other_state"`
	OtherModel    string `json:"other_model"`
	OtherChunking int    `json:"other_chunking"`
	// What has been measured of any model so far.
	Thresholds []threshold.Measured `json:"match_thresholds"`
}

// IsBy reports whether the serving set is known to be of a model and this program's chunking.
func (s Sets) IsBy(model string) bool {
	return s.Model == model && s.Chunking == chunk.Version
}

// Models are the models that queries are embedded with now or next: that of the serving set, or the
// configured one if the set names none, and that of the set being built.
func (s Sets) Models(configured string) []string {
	models := []string{cmp.Or(s.Model, configured)}
	if s.OtherState == Building && s.OtherModel != models[0] {
		models = append(models, s.OtherModel)
	}
	return models
}

// Read returns the current sets.
func Read(ctx context.Context, db rpc.Caller) (Sets, error) {
	return rpc.One[Sets](ctx, db, "embedding_sets", nil)
}

// Begin starts or continues filling the other set, by a model and this program's chunking: it
// queues, behind recent edits, everything that the set lacks, and returns how many sources it added
// to the queue. A retired set must be emptied first; a set that is being built in another way is an
// error and stays unchanged.
func Begin(ctx context.Context, db rpc.Caller, model string) (added int, err error) {
	return rpc.Value[int](ctx, db, "begin_reembed", map[string]any{"embedding_model": model, "chunking": chunk.Version})
}

const (
	// startOver is returned if open transactions held part of the set: the next pass removes the rest.
	startOver = "00000000-0000-0000-0000-000000000000"
	// heldPause is the interval between two passes.
	heldPause = time.Second
)

// Clear empties the retired set in parts. A set that served a moment ago first gets a grace period,
// as long as a request may take, so that queries embedded for it are still answered.
func Clear(ctx context.Context, db rpc.Caller, grace time.Duration) error {
	var after *string
	for pause := grace; ; pause = 0 {
		if after != nil && *after == startOver {
			pause = heldPause
		}
		if err := wait.For(ctx, pause); err != nil {
			return fmt.Errorf("empty the former set of embeddings: %w", err)
		}
		var last *string
		if err := db.Call(ctx, "clear_retired_set", map[string]any{"after": after}, &last); err != nil || last == nil {
			return err
		}
		after = last
	}
}
