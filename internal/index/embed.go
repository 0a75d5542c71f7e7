package index

import (
	"context"
	"errors"
)

// modelOf is the model that embeds a source: that of its set, or the configured one if the set has
// none, and for documents.
func (x *Indexer) modelOf(source storedSource) string {
	if source.Model != nil {
		return *source.Model
	}
	return x.model.EmbeddingModel()
}

// bring embeds new chunks and stores them as they arrive, so that nothing paid for is lost and only
// one request's vectors are held in memory. It returns the places that are not stored; with an
// error, a model failed. A failure of one model does not delay sources of another.
func (r *run) bring(ctx context.Context, plans []*plan) (undone []int, err error) {
	var failed []error
	asked := map[string]bool{}
	for _, p := range plans {
		if !asked[p.model] {
			asked[p.model] = true
			failed = append(failed, r.embed(ctx, p.model, plans))
		}
	}
	// The rest: sources that only lost chunks and, after a failure, sources that have their vectors.
	failed = append(failed, r.store(ctx, plans, true))
	for _, p := range plans {
		if p.state != ended {
			undone = append(undone, p.place)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return undone, err
	}
	if ctx.Err() != nil && len(undone) > 0 {
		return undone, late(ctx)
	}
	return undone, nil
}

// embed gives every new chunk of a model's plans a vector, in as few requests as the limits allow.
func (r *run) embed(ctx context.Context, model string, plans []*plan) error {
	var batch []*planned
	var inputs []string
	total := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, _, err := r.model.Embed(ctx, model, inputs)
		if err != nil {
			return err
		}
		for i, next := range batch {
			next.vector, next.made, r.made[model+next.inputHash] = vectors[i], true, vectors[i]
		}
		batch, inputs, total = nil, nil, 0
		return r.store(ctx, plans, false)
	}
	for _, p := range plans {
		if p.model != model {
			continue
		}
		for j := range p.chunks {
			next := &p.chunks[j]
			if p.state != waiting {
				break // it changed in the meantime
			}
			if next.chunkID != nil {
				continue
			}
			if next.vector = r.made[model+next.inputHash]; next.vector != nil {
				next.made = true
				continue
			}
			if len(batch) >= r.limits.Inputs || total+next.inputTokens > r.limits.Tokens {
				if err := flush(); err != nil {
					return err
				}
			}
			batch, inputs, total = append(batch, next), append(inputs, next.input), total+next.inputTokens
			r.results[p.place].Tokens += next.inputTokens
		}
	}
	return flush()
}
