package index

import (
	"context"
	"errors"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
	"tasklens/internal/vector"
	"tasklens/internal/wait"
)

// attempts bounds how often a source is read again because it changed while it was embedded, or was
// being written at the moment of storing.
const attempts = 6

// run is one call's way through its sources, for one set of chunks.
type run struct {
	*Indexer
	db    rpc.Caller
	set   *int // nil: the serving set
	force bool // embed unchanged chunks, too
	small bool // leave out large sources

	made map[string]embedded // by model and input: what this run paid for and has not stored
}

// embedded is an input's vector, and whether the model took only its beginning.
type embedded struct {
	vector vector.Vector
	cut    bool
}

// index attempts the sources until all are done, and returns what became of each. One that fails
// does not stop the others. The error is why nothing more can be done now.
func (r *run) index(ctx context.Context, ids []int64) (results []*Result, err error) {
	r.made = map[string]embedded{}
	for _, id := range ids {
		results = append(results, &Result{id: id, Err: ErrUndone})
	}
	left := results
	for attempt := 1; len(left) > 0 && attempt <= attempts; attempt++ {
		if attempt > 1 && wait.For(ctx, time.Duration(attempt)*40*time.Millisecond) != nil {
			return results, late(ctx)
		}
		var again []*Result
		err := InBatches(ctx, left, func(some []*Result) (read int, err error) {
			var changed []*Result
			err = rescue.Do(func() (err error) {
				read, changed, err = r.batch(ctx, some)
				return err
			})
			if err == nil {
				again = append(again, changed...)
			}
			return read, err
		}, func(one *Result, err error) { one.Err = err })
		if err != nil {
			return results, err
		}
		left = again
	}
	return results, nil
}

// late is the error of a run whose context ended.
func late(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", ctx.Err())
}

// batch brings some sources in step. It returns how many were read, from the first on, and which of
// these have changed in the meantime. After an error those already stored are found unchanged.
func (r *run) batch(ctx context.Context, some []*Result) (read int, changed []*Result, err error) {
	plans, read, err := r.read(ctx, some)
	if err != nil {
		return 0, nil, err
	}
	models := map[string][]*plan{}
	for _, p := range plans {
		models[p.model] = append(models[p.model], p)
	}
	var failed []error // a model's failure does not delay sources of another
	for model, plans := range models {
		for len(plans) > 0 {
			part := plans[:together(plans)]
			plans = plans[len(part):]
			if err := r.embed(ctx, model, part); errors.Is(err, fault.ErrInput) {
				for _, p := range part {
					p.result.Err = err // unless it is stored
				}
			} else if err != nil {
				failed, plans = append(failed, err), nil
			}
			more, err := r.store(ctx, slices.DeleteFunc(part, func(p *plan) bool { return !p.embedded() }))
			if err != nil {
				return 0, nil, err
			}
			changed = append(changed, more...)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return 0, nil, stop{err}
	}
	return read, changed, nil
}

// read plans what to do for sources. Those that do not exist or are in step are done.
func (r *run) read(ctx context.Context, some []*Result) (plans []*plan, read int, err error) {
	ids := make([]int64, len(some))
	for i, result := range some {
		ids[i] = result.id
	}
	rows, read, err := readSources(ctx, r.db, ids, r.set)
	if err != nil {
		return nil, 0, err
	}
	for _, result := range some[:read] {
		if len(rows) == 0 || rows[0].ID != result.id { // rows come in the requested order
			result.Found, result.Err = false, nil
			continue
		}
		row := rows[0]
		rows = rows[1:]
		result.set = row.set
		p := r.newPlan(row, r.modelOf(row), r.force)
		p.result = result
		switch {
		case r.set != nil && row.Number == nil: // the set was given up
			result.Err = nil
		case p.unchanged():
			r.finish(p, p.ids())
		case r.small && p.large():
			result.Err = ErrLarge
		default:
			plans = append(plans, p)
		}
	}
	return plans, read, nil
}

// modelOf is the model that embeds a source: that of its set, or the configured one if the set has
// none, and for documents.
func (x *Indexer) modelOf(source storedSource) string {
	if source.Model != nil {
		return *source.Model
	}
	return x.model.EmbeddingModel()
}

// embed gives every new chunk of a model's plans a vector. Chunks that were embedded before but
// could not be stored keep theirs.
func (r *run) embed(ctx context.Context, model string, plans []*plan) error {
	var batch []*planned
	var inputs []string
	for _, p := range plans {
		for i := range p.chunks {
			next := &p.chunks[i]
			if next.embedded = r.made[model+next.inputHash]; next.chunkID == nil && next.vector == nil {
				batch, inputs = append(batch, next), append(inputs, next.input)
				p.result.Tokens += next.inputTokens
			}
		}
	}
	if len(batch) == 0 {
		return nil
	}
	vectors, cut, err := r.model.Embed(ctx, model, inputs)
	for _, place := range cut {
		batch[place].cut = true
	}
	for i, vector := range vectors {
		if next := batch[i]; vector != nil {
			next.vector, r.made[model+next.inputHash] = vector, embedded{vector, next.cut}
		}
	}
	return err
}

// finish records what a plan did, once its chunks are stored under these ids.
func (r *run) finish(p *plan, embeddingIDs []string) {
	result := p.result
	result.Err, result.Found, result.EmbeddingIDs, result.Truncated, result.Model = nil, true, embeddingIDs, p.isTruncated(), p.model
	for _, next := range p.chunks {
		if next.chunkID != nil {
			result.Reused++
			continue
		}
		result.Embedded++
		delete(r.made, p.model+next.inputHash)
	}
}
