package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/portion"
	"tasklens/internal/vector"
	"tasklens/internal/wait"
)

// attempts bounds how often a source is read again because it changed while it was embedded, or was
// being written at the moment of storing.
const attempts = 6

// Index brings the chunks of some sources in step with their texts and returns the outcome of each,
// in order. Unchanged chunks keep their ids and are not sent to the model, unless force is set.
// With an error, the results that are Done are still valid.
func (x *Indexer) Index(ctx context.Context, db Database, sources []Source, force bool) ([]Result, error) {
	r := x.run(ctx, db, sources, &pass{force: force})
	errs := []error{r.err}
	for _, place := range slices.Sorted(maps.Keys(r.failed)) {
		errs = append(errs, r.failed[place])
	}
	err := errors.Join(errs...)
	if err == nil && len(r.left) > 0 {
		err = fault.New(fault.Unavailable, fmt.Sprintf("The texts of %d sources are being changed by other transactions.", len(r.left)))
	}
	return r.results, err
}

// run is one call's way through its sources.
type run struct {
	*Indexer
	db      Database
	pass    *pass
	results []Result

	made map[string]vector.Vector // by model and input hash: the vectors this run paid for and has not stored
	slow int                      // consecutive sources for which the database was too slow, each alone

	left   []int         // places to try again
	failed map[int]error // by place, why a single source cannot be done now
	err    error         // why nothing more can be done now
}

// run attempts the sources until nothing is left. A source that fails does not stop the others.
func (x *Indexer) run(ctx context.Context, db Database, sources []Source, p *pass) *run {
	r := &run{Indexer: x, db: db, pass: p, results: make([]Result, len(sources)), made: map[string]vector.Vector{}, failed: map[int]error{}}
	r.left, p.building = make([]int, len(sources)), map[int]set{}
	for i := range sources {
		r.results[i].Source, r.left[i] = sources[i], i
	}
	for attempt := 1; len(r.left) > 0 && attempt <= attempts && r.err == nil; attempt++ {
		if attempt > 1 {
			if wait.For(ctx, time.Duration(attempt)*40*time.Millisecond) != nil {
				r.err = late(ctx)
				break
			}
		}
		r.left, r.err = r.attempt(ctx, r.left)
	}
	return r
}

// tooSlow is the number of consecutive sources for which the database may be too slow, each alone,
// before the run stops calling the database and the model.
const tooSlow = 3

// fail gives up a source for this run.
func (r *run) fail(place int, err error) {
	r.failed[place] = err
	if fault.CodeOf(err) == fault.Timeout {
		r.slow++
	}
}

// stalled returns an error once nothing can be stored.
func (r *run) stalled() error {
	if r.slow < tooSlow {
		return nil
	}
	return portion.Stop(portion.TooSlow(slices.Collect(maps.Values(r.failed))[0]))
}

// attempt does what can be done now and returns the places to try again. With an error, these are
// the unfinished ones, and nothing more can be done now.
func (r *run) attempt(ctx context.Context, pending []int) (again []int, err error) {
	left := pending
	err = portion.Each(ctx, pending, func(part []int) (int, error) {
		if err := r.stalled(); err != nil {
			return 0, err
		}
		sources := make([]Source, len(part))
		for i, place := range part {
			sources[i] = r.results[place].Source
		}
		rows, read, err := readSources(ctx, r.db, sources, r.pass.set)
		if err != nil {
			return 0, err
		}
		for i, place := range part {
			r.results[place].ID = sources[i].ID
		}
		undone, err := r.bring(ctx, r.plan(ctx, rows, part[:read]))
		again, left = append(again, undone...), left[read:]
		if err != nil {
			return read, portion.Stop(err)
		}
		return read, nil
	}, func(place int, err error) {
		left = left[1:]
		r.fail(place, err)
	})
	return append(again, left...), err
}

// plan decides what to do for the sources just read. Those that do not exist or are in step are
// done.
func (r *run) plan(ctx context.Context, rows []storedSource, places []int) (plans []*plan) {
	next := 0 // rows come in the requested order, without missing sources
	for _, place := range places {
		result := &r.results[place]
		if next == len(rows) || rows[next].ID != result.ID {
			result.Found, result.Done = false, true
			continue
		}
		row := rows[next]
		next++
		if row.Building != nil {
			r.pass.building[place] = row.set
		}
		if r.pass.set != nil && row.Number == nil {
			continue // given up
		}
		p := r.newPlan(row, r.modelOf(row), r.pass.force)
		p.place = place
		if p.unchanged() {
			r.finish(p, p.ids())
			continue
		}
		if rows, bytes := p.size(); r.pass.small && !fits(rows, bytes) {
			r.failed[place] = ErrLarge
			continue
		}
		plans = append(plans, p)
	}
	return plans
}
