package load_test

import (
	"strings"
	"testing"
	"time"

	"tasklens/internal/load"
	"tasklens/internal/testbed"
)

// Rows that the database rejects are counted and named, and the rest is loaded.
func TestFailedRowsAreSkipped(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	testbed.Slow(t, database, 0, 800*time.Millisecond)
	b := newBenchOver(t, database)
	for _, statement := range []string{
		`create function private.be_slower() returns trigger language plpgsql as 'begin perform pg_sleep(2); return new; end'`,
		`create trigger be_slower before insert on public.tickets for each row when (new.key = 'AB-7') execute function private.be_slower()`,
	} {
		if _, err := b.owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var r told
	summary, err := load.Load(t.Context(), b.db, folder(t, 30), r.report(), load.Options{})
	if err != nil || summary.Tickets != 29 || summary.Unwritten != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
	if len(r.bad) != 1 || !strings.Contains(r.bad[0], "ticket AB-7 is not written") {
		t.Errorf("told is %q", r.bad)
	}
}
