package index

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
	"tasklens/internal/wait"
)

// attempts bounds how often a source is read again because it changed while it was embedded, or was
// being written at the moment of storing.
const attempts = 6

// run is one call's way through its sources, for one set of chunks.
type run struct {
	*Indexer
	db    Database
	set   *int // nil: the serving set
	force bool // embed unchanged chunks, too
	small bool // leave out large sources

	results []Result
	made    map[string]vector.Vector // by model and input: the vectors this run paid for and has not stored
}

// index attempts the sources until all are done. One that fails does not stop the others. The error
// is why nothing more can be done now.
func (r *run) index(ctx context.Context, sources []Source) error {
	r.results, r.made = make([]Result, len(sources)), map[string]vector.Vector{}
	left := make([]int, len(sources)) // places
	for i := range sources {
		r.results[i], left[i] = Result{Source: sources[i], Err: ErrUndone}, i
	}
	for attempt := 1; len(left) > 0 && attempt <= attempts; attempt++ {
		if attempt > 1 && wait.For(ctx, time.Duration(attempt)*40*time.Millisecond) != nil {
			return late(ctx)
		}
		var again []int
		err := InBatches(ctx, left, func(places []int) (int, error) {
			read, changed, err := r.batch(ctx, places)
			if err == nil {
				again = append(again, changed...)
			}
			return read, err
		}, func(place int, err error) { r.results[place].Err = err })
		if err != nil {
			return err
		}
		left = again
	}
	return nil
}

// late is the error of a run whose context ended.
func late(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", ctx.Err())
}

// batch brings some sources in step. It returns how many were read, from the first on, and which of
// these have changed in the meantime. After an error those already stored are found unchanged.
func (r *run) batch(ctx context.Context, places []int) (read int, changed []int, err error) {
	plans, read, err := r.read(ctx, places)
	if err != nil {
		return 0, nil, err
	}
	slices.SortStableFunc(plans, func(a, b *plan) int { return cmp.Compare(a.model, b.model) })
	var failed error // a model's failure does not delay sources of another
	for broken := ""; len(plans) > 0; {
		n := r.request(plans)
		part := plans[:n]
		plans = plans[n:]
		if part[0].model == broken {
			continue
		}
		if err := r.embed(ctx, part); err != nil {
			failed, broken = errors.Join(failed, err), part[0].model
			continue
		}
		more, err := r.store(ctx, part)
		if err != nil {
			return 0, nil, err
		}
		changed = append(changed, more...)
	}
	if failed != nil {
		failed = stop{failed}
	}
	return read, changed, failed
}

// read plans what to do for sources. Those that do not exist or are in step are done.
func (r *run) read(ctx context.Context, places []int) (plans []*plan, read int, err error) {
	sources := make([]Source, len(places))
	for i, place := range places {
		sources[i] = r.results[place].Source
	}
	rows, read, err := readSources(ctx, r.db, sources, r.set)
	if err != nil {
		return nil, 0, err
	}
	for i, place := range places[:read] {
		result := &r.results[place]
		result.ID = sources[i].ID
		if len(rows) == 0 || rows[0].ID != result.ID { // rows come in the requested order
			result.Found, result.Err = false, nil
			continue
		}
		row := rows[0]
		rows = rows[1:]
		result.set = row.set
		p := r.newPlan(row, r.modelOf(row), r.force)
		p.place = place
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

// request returns how many of the first plans fit into one request to their model, at least one:
// what is embedded is stored before the next request, so that no failure costs more than that.
func (r *run) request(plans []*plan) int {
	inputs, tokens := 0, 0
	for n, p := range plans {
		for _, next := range p.chunks {
			if r.missing(p, next) {
				inputs, tokens = inputs+1, tokens+next.inputTokens
			}
		}
		if n > 0 && (p.model != plans[0].model || inputs > r.limits.Inputs || tokens > r.limits.Tokens) {
			return n
		}
	}
	return len(plans)
}

func (r *run) missing(p *plan, c planned) bool {
	return c.chunkID == nil && r.made[p.model+c.inputHash] == nil
}

// embed gives every new chunk of these plans, all of one model, a vector. Only a plan that exceeds
// the limits takes more than one request.
func (r *run) embed(ctx context.Context, plans []*plan) error {
	var keys, inputs []string
	tokens, model := 0, plans[0].model
	flush := func() error {
		if len(inputs) == 0 {
			return nil
		}
		vectors, _, err := r.model.Embed(ctx, model, inputs)
		if err != nil {
			return err
		}
		for i, key := range keys {
			r.made[key] = vectors[i]
		}
		keys, inputs, tokens = nil, nil, 0
		return nil
	}
	for _, p := range plans {
		for _, next := range p.chunks {
			if !r.missing(p, next) {
				continue
			}
			if len(inputs) == r.limits.Inputs || tokens+next.inputTokens > r.limits.Tokens {
				if err := flush(); err != nil {
					return err
				}
			}
			keys, inputs, tokens = append(keys, model+next.inputHash), append(inputs, next.input), tokens+next.inputTokens
			r.results[p.place].Tokens += next.inputTokens
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for _, p := range plans {
		for i := range p.chunks {
			p.chunks[i].vector = r.made[model+p.chunks[i].inputHash]
		}
	}
	return nil
}

// finish records what a plan did, once its chunks are stored under these ids.
func (r *run) finish(p *plan, embeddingIDs []string) {
	result := &r.results[p.place]
	result.Err, result.Found, result.EmbeddingIDs, result.Truncated, result.Model = nil, true, embeddingIDs, p.truncated, p.model
	for _, next := range p.chunks {
		if next.chunkID != nil {
			result.Reused++
			continue
		}
		result.Embedded++
		delete(r.made, p.model+next.inputHash)
	}
}
