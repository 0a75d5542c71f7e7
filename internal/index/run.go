package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// attempts bounds how often a source is read again because it changed while it was being embedded, or was being
// written by somebody else at the moment of storing.
const attempts = 6

// Index brings the chunks of some sources in step with their texts, all in a few calls, and tells what it did for
// each, in order. Unchanged chunks keep their ids and are not sent to the model, unless force. At most some hundred
// sources at a time: their chunks travel together.
func (x *Indexer) Index(ctx context.Context, db Database, sources []Source, force bool) ([]Result, error) {
	results, left, err := x.run(ctx, db, sources, force)
	if err == nil && len(left) > 0 {
		err = fault.New(fault.Unavailable, fmt.Sprintf("The texts of %d sources are being changed just now.", len(left)))
	}
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Sync is Index for who can come again: it tells for each source whether it is done; one that does not exist is. Where
// a source is not done and err is nil, its text changes again and again, or somebody is writing it. With err the others
// have failed.
func (x *Indexer) Sync(ctx context.Context, db Database, sources []Source) (done []bool, err error) {
	_, left, err := x.run(ctx, db, sources, false)
	done = make([]bool, len(sources))
	for i := range done {
		done[i] = !slices.Contains(left, i)
	}
	return done, err
}

// run attempts the sources until nothing is left to do, and returns the places of those that it could not do.
func (x *Indexer) run(ctx context.Context, db Database, sources []Source, force bool) (results []Result, left []int, err error) {
	results = make([]Result, len(sources))
	left = make([]int, len(sources))
	for i := range sources {
		results[i].Source, left[i] = sources[i], i
	}
	known := map[string]vector.Vector{} // by input hash: what this call has paid for already
	for attempt := 1; len(left) > 0 && attempt <= attempts; attempt++ {
		if attempt > 1 {
			if err := wait(ctx, time.Duration(attempt)*40*time.Millisecond); err != nil {
				return results, left, err
			}
		}
		if left, err = x.attempt(ctx, db, results, left, known, force); err != nil {
			return results, left, err
		}
	}
	return results, left, nil
}

// attempt does what can be done now and returns the places that want another attempt. With an error these are what it
// left undone.
func (x *Indexer) attempt(ctx context.Context, db Database, results []Result, pending []int, known map[string]vector.Vector, force bool) ([]int, error) {
	wanted := make([]Source, len(pending))
	for i, place := range pending {
		wanted[i] = results[place].Source
	}
	rows, err := readSources(ctx, db, wanted)
	if err != nil {
		return pending, fmt.Errorf("read sources: %w", err)
	}
	var plans []*plan
	var places []int
	next := 0 // rows come in the order asked for, without those that do not exist
	for i, place := range pending {
		if next == len(rows) || !rows[next].same(wanted[i]) {
			results[place].Found = false
			continue
		}
		p := x.newPlan(rows[next], force)
		next++
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

// finish sets the result of a source, and keeps the tokens that were counted on the way.
func (x *Indexer) finish(result *Result, p *plan, embeddingIDs []string) {
	tokens := result.Tokens
	*result = p.result(embeddingIDs)
	result.Tokens = tokens
}

// embed gives a vector to every new chunk, in as few requests as the limits allow.
func (x *Indexer) embed(ctx context.Context, plans []*plan, places []int, results []Result, known map[string]vector.Vector) error {
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
			next.vector, known[next.inputHash] = vectors[i], vectors[i]
		}
		batch, inputs, total = nil, nil, 0
		return nil
	}
	for i, p := range plans {
		for j := range p.chunks {
			next := &p.chunks[j]
			if next.chunkID != nil {
				continue
			}
			if next.vector = known[next.inputHash]; next.vector != nil {
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

// wait pauses, or ends with the context.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Timeout, "The texts could not be embedded in time.", ctx.Err())
	}
}
