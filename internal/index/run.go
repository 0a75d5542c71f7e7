package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/chunk"
	"tasklens/internal/fault"
	"tasklens/internal/vector"
	"tasklens/internal/wait"
)

// attempts bounds how often a source is read again because it changed while it was being embedded, or was being
// written by somebody else at the moment of storing.
const attempts = 6

// Index brings the chunks of some sources in step with their texts, all in a few calls, and tells what it did for
// each, in order. Unchanged chunks keep their ids and are not sent to the model, unless force. At most some hundred
// sources at a time: their chunks travel together.
func (x *Indexer) Index(ctx context.Context, db Database, sources []Source, force bool) ([]Result, error) {
	results, left, err := x.run(ctx, db, sources, &pass{force: force})
	if err == nil && len(left) > 0 {
		err = fault.New(fault.Unavailable, fmt.Sprintf("The texts of %d sources are being changed just now.", len(left)))
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}

// run attempts the sources until nothing is left to do, and returns the places of those that it could not do.
func (x *Indexer) run(ctx context.Context, db Database, sources []Source, p *pass) (results []Result, left []int, err error) {
	results = make([]Result, len(sources))
	left = make([]int, len(sources))
	for i := range sources {
		results[i].Source, left[i] = sources[i], i
	}
	known := map[string]vector.Vector{} // by model and input hash: what this call has paid for already
	for attempt := 1; len(left) > 0 && attempt <= attempts; attempt++ {
		if attempt > 1 {
			if err := wait.For(ctx, time.Duration(attempt)*40*time.Millisecond); err != nil {
				return results, left, fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", err)
			}
		}
		if left, err = x.attempt(ctx, db, results, left, known, p); err != nil {
			return results, left, err
		}
	}
	return results, left, nil
}

// attempt does what can be done now and returns the places that want another attempt. With an error these are what it
// left undone.
func (x *Indexer) attempt(ctx context.Context, db Database, results []Result, pending []int, known map[string]vector.Vector, way *pass) ([]int, error) {
	wanted := make([]Source, len(pending))
	for i, place := range pending {
		wanted[i] = results[place].Source
	}
	rows, err := readSources(ctx, db, wanted, way.set)
	if err != nil {
		return pending, fmt.Errorf("read sources: %w", err)
	}
	for _, row := range rows {
		if row.Set.Building != nil {
			// A set that was being built at any moment of this may serve by now, and wants its turn.
			way.building, way.foreign = row.Set.Building, *row.Set.BuildingChunking != chunk.Version
		}
	}
	var plans []*plan
	var places []int
	next := 0 // rows come in the order asked for, without those that do not exist
	for i, place := range pending {
		if next == len(rows) || !rows[next].same(wanted[i]) {
			results[place].Found = false
			continue
		}
		row := rows[next]
		next++
		if way.set != nil && row.Set.Number == nil {
			continue // given up
		}
		p := x.newPlan(row, x.modelOf(ctx, row), way.force)
		if p.unchanged() {
			x.finish(&results[place], p, storedIDs(p.stored))
			continue
		}
		plans = append(plans, p)
		places = append(places, place)
	}
	if len(plans) == 0 {
		return nil, nil
	}
	failed := x.embed(ctx, plans, places, results, known)
	if ctx.Err() != nil {
		return places, failed
	}
	// What has its vectors is paid for, and stored whatever became of the rest.
	var ready []*plan
	var readyPlaces, again []int
	for i, p := range plans {
		if p.embedded() {
			ready, readyPlaces = append(ready, p), append(readyPlaces, places[i])
		} else {
			again = append(again, places[i])
		}
	}
	if len(ready) == 0 {
		return again, failed
	}
	stored, err := store(ctx, db, ready)
	if err != nil {
		return places, errors.Join(failed, fmt.Errorf("store chunks: %w", err))
	}
	for i, p := range ready {
		if stored[i].Stored {
			x.finish(&results[readyPlaces[i]], p, stored[i].EmbeddingIDs)
		} else {
			again = append(again, readyPlaces[i])
		}
	}
	return again, failed
}

// modelOf is the model that a source is embedded by: its set's, or, where that is not settled, or there are no sets, as of
// documents, the configured one.
func (x *Indexer) modelOf(ctx context.Context, source storedSource) string {
	if source.Set.Model != nil {
		return *source.Set.Model
	}
	return x.model.EmbeddingModel(ctx)
}

// finish sets the result of a source, and keeps the tokens that were counted on the way.
func (x *Indexer) finish(result *Result, p *plan, embeddingIDs []string) {
	tokens := result.Tokens
	*result = p.result(embeddingIDs)
	result.Tokens = tokens
}

// embed gives a vector to every new chunk, in as few requests as the limits allow. Where the models differ, what one of
// them refuses keeps nothing from the others.
func (x *Indexer) embed(ctx context.Context, plans []*plan, places []int, results []Result, known map[string]vector.Vector) error {
	var failed []error
	asked := map[string]bool{}
	for _, p := range plans {
		if !asked[p.model] {
			asked[p.model] = true
			failed = append(failed, x.embedBy(x.model.By(ctx, p.model), p.model, plans, places, results, known))
		}
	}
	return errors.Join(failed...)
}

// embedBy is embed for the plans of one model, under a context by which that is asked.
func (x *Indexer) embedBy(ctx context.Context, model string, plans []*plan, places []int, results []Result, known map[string]vector.Vector) error {
	var batch []*planned
	var inputs []string
	total := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, _, err := x.model.Embed(ctx, inputs)
		if err != nil {
			return err
		}
		for i, next := range batch {
			next.vector, known[model+next.inputHash] = vectors[i], vectors[i]
		}
		batch, inputs, total = nil, nil, 0
		return nil
	}
	for i, p := range plans {
		if p.model != model {
			continue
		}
		for j := range p.chunks {
			next := &p.chunks[j]
			if next.chunkID != nil {
				continue
			}
			if next.vector = known[model+next.inputHash]; next.vector != nil {
				continue
			}
			if len(batch) == x.limits.Inputs || total+next.inputTokens > x.limits.Tokens {
				if err := flush(); err != nil {
					return err
				}
			}
			batch, inputs, total = append(batch, next), append(inputs, next.input), total+next.inputTokens
			results[places[i]].Tokens += next.inputTokens
		}
	}
	return flush()
}
