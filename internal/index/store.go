package index

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/portion"
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
	newBytes  = 12*vector.Dimensions + 300
	keptBytes = 90
)

// size is the cost of storing a plan: rows to write, at least one, and bytes.
func (p *plan) size() (rows, bytes int) {
	for i := range p.chunks {
		r, b := p.chunks[i].size()
		rows, bytes = rows+r, bytes+b
	}
	return max(1, rows), bytes
}

func (c *planned) size() (rows, bytes int) {
	switch {
	case c.chunkID == nil:
		return 1, newBytes + len(c.text)
	case c.moved:
		return 1, 2 * keptBytes
	}
	return 0, keptBytes
}

// fits reports whether a source of this size may share a call with others. A single row always may.
func fits(rows, bytes int) bool { return rows == 1 || rows <= storeRows && bytes <= storeBytes }

// store stores what is embedded, each source whole: several in a call, a large one alone. At the
// end everything is stored; before, only full calls.
func (r *run) store(ctx context.Context, plans []*plan, end bool) error {
	var group []*plan
	rows, bytes := 0, 0
	flush := func() error {
		err := r.storeGroup(ctx, group)
		group, rows, bytes = nil, 0, 0
		return err
	}
	for _, p := range plans {
		if p.state != waiting || ctx.Err() != nil {
			continue
		}
		if !p.embedded() {
			continue
		}
		more, moreBytes := p.size()
		if !fits(more, moreBytes) {
			if err := r.storeGroup(ctx, []*plan{p}); err != nil {
				return err
			}
			continue
		}
		twice := slices.ContainsFunc(group, func(other *plan) bool { return other.source.ID == p.source.ID })
		if twice || rows+more > storeRows || bytes+moreBytes > storeBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		group, rows, bytes = append(group, p), rows+more, bytes+moreBytes
	}
	if end || rows == storeRows {
		return flush()
	}
	return nil
}

// storeGroup stores plans in one call, or in as many as the database needs.
func (r *run) storeGroup(ctx context.Context, plans []*plan) error {
	return portion.Each(ctx, plans, func(part []*plan) (int, error) {
		if err := r.stalled(); err != nil {
			return 0, err
		}
		stored, err := callStore(ctx, r.db, part)
		if err != nil {
			return 0, fmt.Errorf("store chunks: %w", err)
		}
		for i, p := range part {
			if stored[i].Stored {
				r.finish(p, stored[i].EmbeddingIDs)
			} else {
				p.state = outdated
			}
		}
		return len(part), nil
	}, func(p *plan, err error) {
		p.state = ended
		r.fail(p.place, err)
	})
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

// How long a storing call may outlast its caller's context: that of a large source longer than the
// 60 s after which the database cancels it.
const (
	patience      = 10 * time.Second
	largePatience = 65 * time.Second
)

// outlast lets a storing call finish: if it were cancelled, its chunks would have to be embedded
// again. It fails if the context ended before the call.
func outlast(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc, error) {
	if ctx.Err() != nil {
		return nil, nil, late(ctx)
	}
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })
	return longer, func() { stop(); cancel() }, nil
}

// late is the error of a run whose context ended.
func late(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", ctx.Err())
}

// callStore writes the chunks of all plans in one transaction, each source only if its text is
// still the embedded one.
func callStore(ctx context.Context, db Database, plans []*plan) (stored []storeResult, err error) {
	most := patience
	if rows, bytes := plans[0].size(); len(plans) == 1 && !fits(rows, bytes) {
		most = largePatience
	}
	ctx, cancel, err := outlast(ctx, most)
	if err != nil {
		return nil, err
	}
	defer cancel()
	sources, chunks, vectors := make([]newSource, len(plans)), []newChunk{}, []vector.Vector{}
	for i, p := range plans {
		sources[i] = newSource{p.source.ID, p.source.SourceHash, p.truncated}
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
				row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, p.model, len(vectors)
			}
			chunks = append(chunks, row)
		}
	}
	err = db.Call(ctx, "store_chunks", map[string]any{
		"sources": sources, "chunks": chunks, "embeddings": vectors, "embedding_set": plans[0].source.Number,
	}, &stored)
	if err == nil && len(stored) != len(plans) {
		err = fmt.Errorf("%d answers for %d sources", len(stored), len(plans))
	}
	return stored, err
}
