package index

import (
	"context"
	"fmt"

	"tasklens/internal/rpc"
)

// storedSource is a source as the database has it: a row of read_sources.
type storedSource struct {
	ID              int64         `json:"source_id"`
	Names           []string      `json:"names"` // shown above each of its chunks
	Texts           []storedText  `json:"texts"`
	Truncated       bool          `json:"truncated"` // the end of a text is left out
	SourceHash      string        `json:"source_hash"`
	Chunks          []storedChunk `json:"chunks"` // in order
	StoredTruncated bool          `json:"stored_truncated"`
	Read            int           `json:"sources_read"` // how many of the requested sources were read, from the first on
	set
}

// set is a set of the tracker's chunks.
type set struct {
	Number *int    `json:"embedding_set"`   // nil if it neither serves nor is being built any more
	Model  *string `json:"embedding_model"` // the model it requires; nil: the configured one
	// The set that is being built to serve next; nil if none, and for documents.
	Building         *int `json:"building_set"`
	BuildingChunking *int `json:"building_chunking"`
}

type storedText struct {
	Kind           string `json:"kind"`
	StatusChangeID *int64 `json:"status_change_id"`
	Text           string `json:"text"`
}

type storedChunk struct {
	ChunkID        string `json:"chunk_id"`
	InputHash      string `json:"input_hash"`
	Model          string `json:"model"`
	StatusChangeID *int64 `json:"status_change_id"`
	Position       int64  `json:"position"`
}

// readSources returns the existing sources in the requested order, with the chunks of this set or,
// by default, of the serving one, and how many of the requested sources it covers: no more than fit
// into one response.
func readSources(ctx context.Context, db rpc.Caller, ids []int64, number *int) (found []storedSource, read int, err error) {
	if err := db.Call(ctx, "read_sources", map[string]any{"source_ids": ids, "embedding_set": number}, &found); err != nil {
		return nil, 0, fmt.Errorf("read sources: %w", err)
	}
	if len(found) == 0 {
		return nil, len(ids), nil
	}
	return found, found[0].Read, nil
}
