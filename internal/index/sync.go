package index

import (
	"context"
	"errors"

	"tasklens/internal/chunk"
)

// ErrUndone means that a source should be tried again: its text keeps changing, another writer
// holds it, or it was not reached.
var ErrUndone = errors.New("not done yet")

// ErrLarge means that storing a source takes long and it was left out because it was not alone.
// Alone it is indexed.
var ErrLarge = errors.New("to be embedded alone")

// Sync is Index for callers that come back. The outcome of a source is nil if it is done or does
// not exist, ErrUndone, ErrLarge, or its own failure. err is why nothing more could be done now.
// While another set of chunks is being built, a source is done when it is in step in both sets; a
// set with another chunking is left to other programs.
func (x *Indexer) Sync(ctx context.Context, db Database, sources []Source) (outcomes []error, err error) {
	present := &pass{small: len(sources) > 1}
	r := x.run(ctx, db, sources, present)
	outcomes = make([]error, len(sources))
	r.tell(outcomes, nil)
	var rest []Source
	var places []int
	var next *int
	for place, source := range sources {
		// By number, so that this set is visited even if it serves by now.
		switch building := present.building[place]; {
		case building.Building == nil || outcomes[place] != nil:
		case r.err != nil || *building.BuildingChunking != chunk.Version:
			outcomes[place] = ErrUndone
		default:
			rest, places, next = append(rest, source), append(places, place), building.Building
		}
	}
	if len(rest) == 0 {
		return outcomes, r.err
	}
	r = x.run(ctx, db, rest, &pass{set: next, small: len(sources) > 1})
	r.tell(outcomes, places)
	return outcomes, r.err
}

// tell writes the unfinished outcomes; places maps its sources to outcomes, nil if they are the
// same.
func (r *run) tell(outcomes []error, places []int) {
	at := func(place int) int {
		if places == nil {
			return place
		}
		return places[place]
	}
	for _, place := range r.left {
		outcomes[at(place)] = ErrUndone
	}
	for place, err := range r.failed {
		outcomes[at(place)] = err
	}
}

// pass is one pass over the sources, for one set of chunks.
type pass struct {
	set   *int // nil: the serving set
	force bool
	small bool // large sources are left out

	building map[int]set // by place, of sources read while another set was being built
}
