package index

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/portion"
	"tasklens/internal/vector"
)

// What one call stores at most: far below what a slow database writes within a statement timeout of
// 8 s (80 chunks at 100 ms each), and what a proxy accepts as a body.
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

// fits reports whether a source of this size can be stored in one call. A single row always can.
func fits(rows, bytes int) bool { return rows == 1 || rows <= storeRows && bytes <= storeBytes }

// store stores what is embedded: whole sources, several in a call, and a source too large for one
// call in parts. At the end everything is stored; before, only full calls.
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
		more, moreBytes := p.size()
		if !fits(more, moreBytes) {
			if err := r.stage(ctx, p, end); err != nil {
				return err
			}
			continue
		}
		if !p.embedded() {
			continue
		}
		if rows+more > storeRows || bytes+moreBytes > storeBytes {
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

// storeGroup stores plans in one call, or in as many as the database needs. A plan that is too
// large alone is stored in parts.
func (r *run) storeGroup(ctx context.Context, plans []*plan) error {
	var parted []*plan
	err := portion.Each(ctx, plans, func(part []*plan) (int, error) {
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
		if rows, _ := p.size(); rows > 1 && portion.TooMuch(err) {
			parted = append(parted, p)
			return
		}
		p.state = ended
		r.fail(p.place, err)
	})
	for _, p := range parted {
		if err == nil {
			err = r.stage(ctx, p, true)
		}
	}
	return err
}

// newChunk is an element of store_chunks' argument chunks.
type newChunk struct {
	Source         int     `json:"source,omitempty"` // place of the source, from 1
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

type storeResult struct {
	Place        int      `json:"place"`
	Stored       bool     `json:"stored"`
	EmbeddingIDs []string `json:"embedding_ids"`
}

// patience is how long a storing call may outlast its caller's context: longer than the 8 s after
// which Supabase cancels it.
const patience = 10 * time.Second

// outlast lets a storing call finish: if it were cancelled, its chunks would have to be embedded
// again. It fails if the context ended before the call.
func outlast(ctx context.Context) (context.Context, context.CancelFunc, error) {
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

// callStore writes the chunks of all plans, each source only if its text is still the embedded one:
// one transaction for the tracker's sources, and one for documents.
func callStore(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	ctx, cancel, err := outlast(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
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

// newChunks returns the chunks of plans in the form of the storing functions, and the vectors of
// the new ones.
func newChunks(plans []*plan) (chunks []newChunk, vectors []vector.Vector, hashes []string) {
	chunks, vectors = []newChunk{}, []vector.Vector{}
	for i, p := range plans {
		hashes = append(hashes, p.hash)
		for j := range p.chunks {
			chunks, vectors = appendChunk(chunks, vectors, p, &p.chunks[j], i+1)
		}
	}
	return chunks, vectors, hashes
}

func appendChunk(chunks []newChunk, vectors []vector.Vector, p *plan, next *planned, source int) ([]newChunk, []vector.Vector) {
	row := newChunk{Source: source, ChunkID: next.chunkID, Position: next.position}
	if next.chunkID == nil || next.moved {
		row.Kind, row.StatusChangeID = next.kind, next.statusChangeID
	}
	if next.chunkID == nil {
		vectors = append(vectors, next.vector)
		row.Text, row.Tokens, row.InputHash, row.Model, row.Embedding = next.text, next.tokens, next.inputHash, p.model, len(vectors)
	}
	return append(chunks, row), vectors
}

// call calls a storing function and checks that it reports on every source.
func call(ctx context.Context, db Database, function string, arguments map[string]any, sources int) ([]storeResult, error) {
	var rows []storeResult
	err := db.Call(ctx, function, arguments, &rows)
	if err == nil && len(rows) != sources {
		err = fmt.Errorf("%d answers for %d sources", len(rows), sources)
	}
	return rows, err
}
