package index

import (
	"context"
	"fmt"

	"tasklens/internal/vector"
)

// storedSource is a row of read_sources.
type storedSource struct {
	ProjectID   int64         `json:"project_id"`
	TicketID    *int64        `json:"ticket_id"`
	ProjectName string        `json:"project_name"`
	TicketName  *string       `json:"ticket_name"`
	Texts       []storedText  `json:"texts"`
	SourceHash  string        `json:"source_hash"`
	Chunks      []storedChunk `json:"chunks"`
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

func ids(sources []Source) (projects []int64, tickets []*int64) {
	for _, source := range sources {
		projects = append(projects, source.ProjectID)
		tickets = append(tickets, source.TicketID)
	}
	return projects, tickets
}

func readSources(ctx context.Context, db Database, sources []Source) ([]storedSource, error) {
	projects, tickets := ids(sources)
	var rows []storedSource
	err := db.Call(ctx, "read_sources", map[string]any{"project_ids": projects, "ticket_ids": tickets}, &rows)
	return rows, err
}

func storeChunks(ctx context.Context, db Database, plans []*plan, chunks []newChunk, vectors []vector.Vector) ([]storeResult, error) {
	var projects []int64
	var tickets []*int64
	var hashes []string
	for _, p := range plans {
		projects = append(projects, p.source.ProjectID)
		tickets = append(tickets, p.source.TicketID)
		hashes = append(hashes, p.hash)
	}
	if chunks == nil {
		chunks = []newChunk{}
	}
	if vectors == nil {
		vectors = []vector.Vector{}
	}
	var rows []storeResult
	err := db.Call(ctx, "store_chunks", map[string]any{
		"project_ids": projects, "ticket_ids": tickets, "source_hashes": hashes, "chunks": chunks, "embeddings": vectors,
	}, &rows)
	return rows, err
}

// store writes the chunks of all plans in one transaction, each source only if its text is still the one that was
// embedded.
func store(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	var chunks []newChunk
	var vectors []vector.Vector
	for i, p := range plans {
		for position, next := range p.chunks {
			row := newChunk{Source: i + 1, ChunkID: next.chunkID, Kind: next.kind, StatusChangeID: next.statusChangeID, Position: position}
			if next.chunkID == nil {
				vectors = append(vectors, next.vector)
				place := len(vectors)
				row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, next.model, &place
			}
			chunks = append(chunks, row)
		}
	}
	rows, err := storeChunks(ctx, db, plans, chunks, vectors)
	if err == nil && len(rows) != len(plans) {
		err = fmt.Errorf("%d answers for %d sources", len(rows), len(plans))
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
