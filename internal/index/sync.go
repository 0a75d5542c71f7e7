package index

import (
	"context"
	"slices"
)

// Sync is Index for who can come again: it tells for each source whether it is done; one that does not exist is. Where
// a source is not done and err is nil, its text changes again and again, or somebody is writing it. With err the others
// have failed. While another set of chunks is being built, a source is done when it is in step in both, and left to others
// where this program does not chunk as that set wants it.
func (x *Indexer) Sync(ctx context.Context, db Database, sources []Source) (done []bool, err error) {
	present := &pass{}
	_, left, err := x.run(ctx, db, sources, present)
	done = make([]bool, len(sources))
	for i := range done {
		done[i] = !slices.Contains(left, i) && (!present.foreign || sources[i].DocumentID != "")
	}
	if err != nil || present.building == nil || present.foreign {
		return done, err
	}
	var rest []Source
	var places []int
	for i, source := range sources {
		if done[i] && source.DocumentID == "" {
			rest, places = append(rest, source), append(places, i)
		}
	}
	// Named, so that it is this set's turn even if it serves by now.
	_, left, err = x.run(ctx, db, rest, &pass{set: present.building})
	for _, i := range left {
		done[places[i]] = false
	}
	return done, err
}

// pass is one way through the sources, for one set of chunks.
type pass struct {
	set   *int // nil: the one that serves
	force bool

	// What was read on the way.
	building *int // the set that is being built; nil without one
	foreign  bool // it wants another chunking than this program's
}
