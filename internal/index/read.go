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

// findSources sets the ids of the sources that have none. That of one that does not exist stays 0.
func findSources(ctx context.Context, db rpc.Caller, sources []Source) error {
	var wanted []Source
	var places []int
	for i, source := range sources {
		if source.ID == 0 {
			wanted, places = append(wanted, source), append(places, i)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	var rows []struct {
		Place    int   `json:"place"` // from 1
		SourceID int64 `json:"source_id"`
	}
	if err := db.Call(ctx, "find_sources", map[string]any{"sources": wanted}, &rows); err != nil {
		return fmt.Errorf("find sources: %w", err)
	}
	for _, row := range rows {
		sources[places[row.Place-1]].ID = row.SourceID
	}
	return nil
}

// readSources returns the existing sources in the requested order, with the chunks of this set or,
// by default, of the serving one, and how many of the requested sources it covers: no more than fit
// into one response.
func readSources(ctx context.Context, db rpc.Caller, sources []Source, number *int) (found []storedSource, read int, err error) {
	if err := findSources(ctx, db, sources); err != nil {
		return nil, 0, err
	}
	ids := make([]int64, len(sources))
	for i, source := range sources {
		ids[i] = source.ID
	}
	if err := db.Call(ctx, "read_sources", map[string]any{"source_ids": ids, "embedding_set": number}, &found); err != nil {
		return nil, 0, fmt.Errorf("read sources: %w", err)
	}
	read = len(sources)
	if len(found) > 0 {
		read = found[0].Read
	}
	return found, read, nil
}
