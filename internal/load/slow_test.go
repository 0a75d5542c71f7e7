package load_test

import (
	"strings"
	"testing"

	"tasklens/internal/load"
	"tasklens/internal/testbed"
)

// Rows that the database rejects are counted and named, and the rest is loaded.
func TestFailedRowsAreSkipped(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	testbed.TimeOut(t, database, "public.tickets", "new.key = 'AB-7'")
	b := newBenchOver(t, database)
	var r told
	summary, err := load.Load(t.Context(), b.db, folder(t, 30), r.report(), load.Options{})
	if err != nil || summary.Tickets != 29 || summary.Unwritten != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
	if len(r.bad) != 1 || !strings.Contains(r.bad[0], "ticket AB-7 is not written") {
		t.Errorf("told is %q", r.bad)
	}
}
