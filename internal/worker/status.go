package worker

import (
	"context"
	"fmt"
)

// Status says how far the chunks are in step. Sources are counted, not jobs: a ticket once, however
// often it was edited.
type Status struct {
	Pending              int     `json:"pending"`                // wait for a worker
	Running              int     `json:"running"`                // are being embedded
	Failed               int     `json:"failed"`                 // wait for another attempt after one that failed
	Dead                 int     `json:"dead"`                   // were given up, and wait to be replayed
	OldestPendingSeconds float64 `json:"oldest_pending_seconds"` // of those pending or failed; 0 without any
	Chunks               int     `json:"chunks"`
	SourcesWithoutChunks int     `json:"sources_without_chunks"` // have a text but no chunk of the model
}

// ReadStatus asks the database how far the chunks of a model are in step.
func ReadStatus(ctx context.Context, db Database, model string) (Status, error) {
	var rows []Status
	err := db.Call(ctx, "embedding_status", map[string]any{"embedding_model": model}, &rows)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("embedding_status returned %d rows", len(rows))
	}
	if err != nil {
		return Status{}, fmt.Errorf("read the status of embeddings: %w", err)
	}
	return rows[0], nil
}
