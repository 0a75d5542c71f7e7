package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tasklens/internal/rpc"
	"tasklens/internal/vector"
)

// What one call stores of several sources at most: little enough that none of them waits long, and
// that common proxies accept it as a body. A source that exceeds it is stored alone, whole.
const (
	storeRows  = 40
	storeBytes = 900_000
)

// A new chunk costs about 12 bytes for each dimension plus its other fields; a kept one its id and
// place.
const (
	newBytes   = 12*vector.Dimensions + 300
	movedBytes = 180
	keptBytes  = 90
)

// How long a storing call may outlast its caller's context: that of a large source longer than the
// 60 s after which the database cancels it.
const (
	patience      = 10 * time.Second
	largePatience = 65 * time.Second
)

// together returns how many of the first plans are embedded and then stored in one call, at least
// one, so that a crash costs no more.
func together(plans []*plan) int {
	rows, bytes := plans[0].rows, plans[0].bytes
	for n, next := range plans[1:] {
		rows, bytes = rows+next.rows, bytes+next.bytes
		// A call takes each source once.
		if rows > storeRows || bytes > storeBytes || slices.ContainsFunc(plans[:n+1], func(p *plan) bool { return p.source.ID == next.source.ID }) {
			return n + 1
		}
	}
	return len(plans)
}

// store stores plans in one call, and returns those that changed in the meantime or that another
// writer holds.
func (r *run) store(ctx context.Context, plans []*plan) (changed []*Result, err error) {
	if len(plans) == 0 {
		return nil, nil
	}
	stored, err := callStore(ctx, r.db, plans)
	if err != nil {
		return nil, fmt.Errorf("store chunks: %w", err)
	}
	for i, p := range plans {
		if stored[i].Stored {
			r.finish(p, stored[i].EmbeddingIDs)
		} else {
			changed = append(changed, p.result)
		}
	}
	return changed, nil
}

// newChunk is an element of store_chunks' argument chunks.
type newChunk struct {
	SourceID       int64   `json:"source_id"`
	ChunkID        *string `json:"chunk_id,omitempty"`
	Kind           string  `json:"kind,omitempty"`
	StatusChangeID *int64  `json:"status_change_id,omitempty"`
	Position       int64   `json:"position"`
	Text           string  `json:"text,omitempty"`
	Tokens         int     `json:"tokens,omitempty"`
	InputHash      string  `json:"input_hash,omitempty"`
	Model          string  `json:"model,omitempty"`
	Embedding      int     `json:"embedding,omitempty"` // place of the vector, from 1
}

// newSource is an element of its argument sources.
type newSource struct {
	SourceID   int64  `json:"source_id"`
	SourceHash string `json:"source_hash"`
	Truncated  bool   `json:"truncated"`
}

// storeResult is a row of its result.
type storeResult struct {
	Stored       bool     `json:"stored"`
	EmbeddingIDs []string `json:"embedding_ids"`
}

// callStore writes the chunks of all plans in one transaction, each source only if its text is
// still the embedded one.
func callStore(ctx context.Context, db rpc.Caller, plans []*plan) (stored []storeResult, err error) {
	if ctx.Err() != nil {
		return nil, late(ctx)
	}
	// If the call were cancelled with its caller, its chunks would have to be embedded again.
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	most := patience
	if plans[0].large() {
		most = largePatience
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(most, cancel) })()

	sources, chunks, vectors := make([]newSource, len(plans)), []newChunk{}, []vector.Vector{}
	for i, p := range plans {
		sources[i] = newSource{p.source.ID, p.source.SourceHash, p.isTruncated()}
		for _, next := range p.chunks {
			row := newChunk{SourceID: p.source.ID, ChunkID: next.chunkID, Position: next.position}
			if next.chunkID == nil || next.moved {
				row.Kind, row.StatusChangeID = next.kind, next.statusChangeID
			}
			if next.chunkID == nil {
				embedding := next.vector
				if next.kind == "document" {
					if embedding, err = embedding.Short(); err != nil {
						return nil, err
					}
				}
				vectors = append(vectors, embedding)
				if next.cut {
					next.inputHash += cutMark
				}
				row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, p.model, len(vectors)
			}
			chunks = append(chunks, row)
		}
	}
	err = db.Call(longer, "store_chunks", map[string]any{
		"sources": sources, "chunks": chunks, "embeddings": vectors, "embedding_set": plans[0].source.Number,
	}, &stored)
	if err == nil && len(stored) != len(plans) {
		err = fmt.Errorf("%d answers for %d sources", len(stored), len(plans))
	}
	return stored, err
}
