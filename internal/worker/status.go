package worker

import (
	"context"
	"fmt"
)

// Status is the state of indexing. It counts sources, not jobs: an often edited ticket counts once.
type Status struct {
	Pending              int     `json:"pending"`                // waiting for a worker
	Running              int     `json:"running"`                // being embedded
	Failed               int     `json:"failed"`                 // waiting for a retry
	Dead                 int     `json:"dead"`                   // given up, waiting to be replayed
	OldestPendingSeconds float64 `json:"oldest_pending_seconds"` // of pending and failed ones; 0 if there are none
	Chunks               int     `json:"chunks"`
	SourcesWithoutChunks int     `json:"sources_without_chunks"` // with a text but without a chunk of the model
}

// ReadStatus reads the state of indexing for a model.
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
