package load

import (
	"context"
	"errors"
	"testing"

	"tasklens/internal/index"
)

// fake indexes the first so many sources of each batch.
type fake int

func (f *fake) Index(_ context.Context, _ index.Database, sources []index.Source, _ bool) ([]index.Result, error) {
	results := make([]index.Result, len(sources))
	for i := int(*f); i < len(results); i++ {
		results[i].Err = index.ErrUndone
	}
	return results, errors.New("odd")
}

// An import ends after three batches in a row of which nothing was indexed, and not sooner.
func TestWhenAnImportEnds(t *testing.T) {
	t.Parallel()
	var indexed fake
	var reported int
	i := &importer{indexer: &indexed, report: Report{Trouble: func(Trouble, error) { reported++ }}}
	for n, batch := range []struct {
		indexed fake
		ends    bool
	}{{0, false}, {1, false}, {1, false}, {1, false}, {1, false}, {0, false}, {0, false}, {0, true}} {
		indexed = batch.indexed
		if err := i.index(t.Context(), make([]index.Source, 10)); (err != nil) != batch.ends {
			t.Errorf("batch %d: %v", n, err)
		}
	}
	if i.counts.Unindexed != 76 || reported != 7 {
		t.Errorf("%+v, %d reports", i.counts, reported)
	}
}
