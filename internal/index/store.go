package index

import (
	"context"
	"fmt"

	"tasklens/internal/vector"
)

// storedSource is a source as the database has it.
type storedSource struct {
	Source
	Names      []string // that stand above each of its chunks
	Texts      []storedText
	SourceHash string
	Chunks     []storedChunk
	Set        set // none of a document
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
}

// newChunk is an element of store_chunks' chunks.
type newChunk struct {
	Source         int     `json:"source"` // place of the source, from 1
	ChunkID        *string `json:"chunk_id"`
	Kind           string  `json:"kind"`
	StatusChangeID *int64  `json:"status_change_id"`
	Position       int     `json:"position"`
	Text           string  `json:"text,omitempty"`
	Tokens         int     `json:"tokens,omitempty"`
	InputHash      string  `json:"input_hash,omitempty"`
	Model          string  `json:"model,omitempty"`
	Embedding      *int    `json:"embedding"` // place of the vector, from 1
}

type storeResult struct {
	Place        int      `json:"place"`
	Stored       bool     `json:"stored"`
	EmbeddingIDs []string `json:"embedding_ids"`
}

// readSources gives the sources that exist, in the order asked for, with the chunks of this set, or of that which serves.
func readSources(ctx context.Context, db Database, sources []Source, number *int) ([]storedSource, error) {
	tracked, documents := split(sources, func(s Source) Source { return s })
	found, err := readTracked(ctx, db, tracked, number)
	if err != nil {
		return nil, err
	}
	foundDocuments, err := readDocuments(ctx, db, documents)
	if err != nil {
		return nil, err
	}
	merged := make([]storedSource, 0, len(found)+len(foundDocuments))
	for _, source := range sources {
		from := &found
		if source.DocumentID != "" {
			from = &foundDocuments
		}
		if len(*from) > 0 && (*from)[0].same(source) {
			merged, *from = append(merged, (*from)[0]), (*from)[1:]
		}
	}
	return merged, nil
}

// split tells what belongs to the tracker from what belongs to documents. Each keeps its order.
func split[T any](all []T, source func(T) Source) (tracked, documents []T) {
	for _, one := range all {
		if source(one).DocumentID == "" {
			tracked = append(tracked, one)
		} else {
			documents = append(documents, one)
		}
	}
	return tracked, documents
}

// store writes the chunks of all plans, each source only if its text is still the one that was embedded: in one
// transaction for those of the tracker, and one for documents.
func store(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	tracked, documents := split(plans, func(p *plan) Source { return p.source })
	stored, err := storeTracked(ctx, db, tracked)
	if err != nil {
		return nil, err
	}
	storedDocuments, err := storeDocuments(ctx, db, documents)
	if err != nil {
		return nil, err
	}
	merged := make([]storeResult, 0, len(plans))
	for _, p := range plans {
		from := &stored
		if p.source.DocumentID != "" {
			from = &storedDocuments
		}
		merged, *from = append(merged, (*from)[0]), (*from)[1:]
	}
	return merged, nil
}

// newChunks are the chunks of plans as both storing functions take them, and the vectors of those that are new.
func newChunks(plans []*plan) (chunks []newChunk, vectors []vector.Vector, hashes []string) {
	chunks, vectors = []newChunk{}, []vector.Vector{}
	for i, p := range plans {
		hashes = append(hashes, p.hash)
		for position, next := range p.chunks {
			row := newChunk{Source: i + 1, ChunkID: next.chunkID, Kind: next.kind, StatusChangeID: next.statusChangeID, Position: position}
			if next.chunkID == nil {
				vectors = append(vectors, next.vector)
				place := len(vectors)
				row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, p.model, &place
			}
			chunks = append(chunks, row)
		}
	}
	return chunks, vectors, hashes
}

// callStore calls a storing function and checks that it tells of every source.
func callStore(ctx context.Context, db Database, function string, arguments map[string]any, sources int) ([]storeResult, error) {
	var rows []storeResult
	err := db.Call(ctx, function, arguments, &rows)
	if err == nil && len(rows) != sources {
		err = fmt.Errorf("%d answers for %d sources", len(rows), sources)
	}
	return rows, err
}

func storedIDs(chunks []storedChunk) []string {
	ids := make([]string, len(chunks))
	for i, stored := range chunks {
		ids[i] = stored.ChunkID
	}
	return ids
}
