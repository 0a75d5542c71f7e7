package index

import (
	"context"
	"errors"
)

// ErrUndone is the outcome of a source that is to be tried again: its text changes again and again,
// somebody else is writing it, or it did not get its turn.
var ErrUndone = errors.New("not done yet")

// ErrLarge is the outcome of a source that takes many calls and was left out, because it was not
// the only one. Alone it has its turn.
var ErrLarge = errors.New("to be embedded alone")

// Sync is Index for who can come again. The outcome of a source is nil where it is done, as is one
// that does not exist, ErrUndone, ErrLarge, or why it failed by itself. err says why nothing more
// could be done now. While another set of chunks is being built, a source is done when it is in
// step in both, and left to others where this program does not chunk as that set wants it.
func (x *Indexer) Sync(ctx context.Context, db Database, sources []Source) (outcomes []error, err error) {
	present := &pass{small: len(sources) > 1}
	r := x.run(ctx, db, sources, present)
	outcomes = make([]error, len(sources))
	r.tell(outcomes, nil)
	if present.building == nil {
		return outcomes, r.err
	}
	var rest []Source
	var places []int
	for i, source := range sources {
		if source.DocumentID != "" || outcomes[i] != nil {
			continue
		}
		if present.foreign {
			outcomes[i] = ErrUndone
		} else {
			rest, places = append(rest, source), append(places, i)
		}
	}
	if r.err != nil || present.foreign {
		for _, i := range places {
			outcomes[i] = ErrUndone
		}
		return outcomes, r.err
	}
	// Named, so that it is this set's turn even if it serves by now.
	r = x.run(ctx, db, rest, &pass{set: present.building, small: len(sources) > 1})
	r.tell(outcomes, places)
	return outcomes, r.err
}

// tell writes what is not done to the outcomes; places are where its sources stand there, nil where
// they are all.
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

// pass is one way through the sources, for one set of chunks.
type pass struct {
	set   *int // nil: the one that serves
	force bool
	small bool // large sources are left out

	// What was read on the way.
	building *int // the set that is being built; nil without one
	foreign  bool // it wants another chunking than this program's
}
