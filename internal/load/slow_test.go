package load_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/load"
	"tasklens/internal/testbed"
)

// An import into a slow database succeeds, and a second import finds nothing to do.
func TestImportIntoASlowDatabase(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	testbed.Slow(t, database, 10*time.Millisecond, 800*time.Millisecond)
	b := newBenchOver(t, database)
	long := `{"ticket_id":"AB-999","project_id":"AB","name":"Long","description":"` + strings.Repeat("The valve of another pump leaks. ", 4000) + `"}`
	rows := folder(t, 120, long)
	var r told
	summary, err := load.Load(t.Context(), b.db, b.indexer, rows, r.report(), load.Options{})
	if err != nil || summary.Tickets != 121 || summary.Unwritten+summary.Unindexed > 0 || summary.Chunks < 300 || summary.Embedded != summary.Chunks {
		t.Errorf("%+v, %v; %q", summary, err, r.bad)
	}
	if again, err := load.Load(t.Context(), b.db, b.indexer, rows, r.report(), load.Options{}); err != nil || again.Embedded > 0 || again.Chunks != summary.Chunks {
		t.Errorf("again %+v, %v", again, err)
	}
}

// Rows that the database rejects are counted and named, and the rest is loaded.
func TestFailedRowsAreSkipped(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	testbed.Slow(t, database, 0, 800*time.Millisecond)
	b := newBenchOver(t, database)
	for _, statement := range []string{
		`alter function public.store_chunks set statement_timeout = '800ms'`,
		`create function private.be_slower() returns trigger language plpgsql as 'begin perform pg_sleep(2); return new; end'`,
		`create trigger be_slower before insert on public.tickets for each row when (new.key = 'AB-7') execute function private.be_slower()`,
		`create trigger be_slower before insert on public.chunks for each row when (new.text like 'Ticket number 17%') execute function private.be_slower()`,
	} {
		if _, err := b.owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var r told
	summary, err := load.Load(t.Context(), b.db, b.indexer, folder(t, 30), r.report(), load.Options{})
	if err != nil || summary.Tickets != 29 || summary.Unwritten != 1 || summary.Unindexed != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
	if len(r.bad) != 2 || !strings.Contains(r.bad[0], "ticket AB-7 is not written") || !strings.Contains(r.bad[1], "1 of 29 are written, but not indexed") {
		t.Errorf("told is %q", r.bad)
	}
	if n := b.count(t, "select count(*) from chunks"); n != 2+2*28 {
		t.Errorf("%d chunks", n)
	}
}

// away is an indexer whose model is unavailable for this many batches.
type away struct {
	*index.Indexer
	left atomic.Int64
	err  error
}

func (a *away) Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error) {
	if a.left.Add(-1) >= 0 {
		return nil, a.err
	}
	return a.Indexer.Index(ctx, db, sources, force)
}

func TestImportContinuesAfterFailures(t *testing.T) {
	t.Parallel()
	broken := fault.New(fault.Provider, "The model is away.")
	for name, c := range map[string]struct {
		batches   int64
		err       error
		unindexed int
		ends      bool
	}{
		"a batch fails":         {1, broken, 2, false},
		"two batches fail":      {2, broken, 2 + 100, false},
		"everything fails":      {1000, broken, 0, true},
		"a limit is waited out": {2, fault.New(fault.Unavailable, "Too fast."), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			var r told
			indexer := &away{Indexer: b.indexer, err: c.err}
			indexer.left.Store(c.batches)
			summary, err := load.Load(t.Context(), b.db, indexer, folder(t, 450), r.report(), load.Options{})
			if c.ends {
				if !errors.Is(err, broken) || summary.Unindexed < 2+100 {
					t.Errorf("%+v, %v", summary, err)
				}
				return
			}
			if err != nil || summary.Tickets != 450 || summary.Unindexed != c.unindexed || summary.Chunks != 2+2*450-c.unindexed-max(0, c.unindexed-2) {
				t.Errorf("%+v, %v", summary, err)
			}
		})
	}
}
