package index

import (
	"context"
	"fmt"

	"tasklens/internal/portion"
	"tasklens/internal/vector"
)

// stage stores the embedded chunks of a large source in invisible parts and, once all are there,
// has the database make them visible. Until then only full parts are stored.
func (r *run) stage(ctx context.Context, p *plan, end bool) error {
	var part []*planned
	bytes := 0
	flush := func() error {
		err := r.stagePart(ctx, p, part)
		part, bytes = nil, 0
		return err
	}
	complete := true
	for i := range p.chunks {
		next := &p.chunks[i]
		rows, more := next.size()
		if rows == 0 {
			continue
		}
		if next.chunkID == nil && next.vector == nil {
			complete = false
			continue
		}
		if bytes+more > storeBytes {
			if err := flush(); err != nil || p.state != waiting {
				return err
			}
		}
		if part, bytes = append(part, next), bytes+more; len(part) == storeRows {
			if err := flush(); err != nil || p.state != waiting {
				return err
			}
		}
	}
	if !complete && !end {
		return nil
	}
	if err := flush(); err != nil || p.state != waiting || !complete {
		return err
	}
	// Only making them visible remains: fast, however many there are.
	return portion.Each(ctx, []*plan{p}, func(whole []*plan) (int, error) {
		stored, err := callStore(ctx, r.db, whole)
		if err != nil {
			return 0, fmt.Errorf("show staged chunks: %w", err)
		}
		if stored[0].Stored {
			r.finish(p, stored[0].EmbeddingIDs)
		} else {
			p.state = outdated
		}
		return 1, nil
	}, func(_ *plan, err error) {
		p.state = ended
		r.fail(p.place, err)
	})
}

type stageResult struct {
	Staged       bool     `json:"staged"`
	EmbeddingIDs []string `json:"embedding_ids"`
}

// stagePart stages chunks of a plan in one call, or in as many as the database needs.
func (r *run) stagePart(ctx context.Context, p *plan, all []*planned) error {
	return portion.Each(ctx, all, func(part []*planned) (int, error) {
		if p.state != waiting {
			return len(part), nil
		}
		if err := r.stalled(); err != nil {
			return 0, err
		}
		chunks, vectors := []newChunk{}, []vector.Vector{}
		for _, next := range part {
			chunks, vectors = appendChunk(chunks, vectors, p, next, 0)
		}
		staged, err := callStage(ctx, r.db, p, chunks, vectors)
		if err != nil {
			return 0, fmt.Errorf("stage chunks: %w", err)
		}
		if !staged.Staged {
			p.state = outdated
			return len(part), nil
		}
		r.slow = 0
		for i, next := range part {
			if next.chunkID == nil {
				next.chunkID, next.staged, next.vector = &staged.EmbeddingIDs[i], true, nil
				r.made[p.model+next.inputHash] = nil
			}
			next.moved = false
		}
		return len(part), nil
	}, func(_ *planned, err error) {
		p.state = ended
		r.fail(p.place, err)
	})
}

func callStage(ctx context.Context, db Database, p *plan, chunks []newChunk, vectors []vector.Vector) (stageResult, error) {
	ctx, cancel, err := outlast(ctx)
	if err != nil {
		return stageResult{}, err
	}
	defer cancel()
	function, arguments := "stage_chunks", map[string]any{
		"project_id": p.source.ProjectID, "ticket_id": p.source.TicketID, "comment_id": p.source.CommentID, "source_hash": p.hash,
		"chunks": chunks, "embeddings": vectors, "embedding_set": p.set,
	}
	if p.source.DocumentID != "" {
		if err := shorten(vectors); err != nil {
			return stageResult{}, err
		}
		function, arguments = "stage_document_chunks", map[string]any{
			"document_id": p.source.DocumentID, "source_hash": p.hash, "chunks": chunks, "embeddings": vectors,
		}
	}
	var rows []stageResult
	err = db.Call(ctx, function, arguments, &rows)
	if err == nil && (len(rows) != 1 || rows[0].Staged && len(rows[0].EmbeddingIDs) != len(chunks)) {
		err = fmt.Errorf("%d answers for %d chunks", len(rows), len(chunks))
	}
	if err != nil {
		return stageResult{}, err
	}
	return rows[0], nil
}
