package load_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/load"
	"tasklens/internal/testbed"
)

const wholeExport = `Issue key,Summary,Description,Assignee,Labels,Labels,Updated,Resolved,Status,Status Category,Outward issue link (Blocks),Inward issue link (Duplicate),Outward issue link (Relates),Comment,Comment,Due date
A-1,Pump leaks,*Water*,Ann,pump,wet,2025-03-15 13:00,,Waiting for Bob,In Progress,A-2,A-3,A-2,14/Mar/25 9:30 AM;ann;Turn the *valve*,14/Mar/25 9:31 AM;bob;Did so,2025-04-01
A-2,Pipe bursts,,Bob,,,2025-03-16 13:00,2025-03-17 10:00,Done,Done,B-9,,,14/Mar/25 9:30 AM;ann;Replace it,,
A-3,Pump drips,,,,,2025-03-16 13:00,,Done,Done,,,A-2,,,
`

func csv(t *testing.T, text string) string {
	t.Helper()
	return files(t, map[string]string{"export.csv": text})
}

// Importing the same export twice writes no row the second time.
func TestExportTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var r told
	summary, err := b.load(t.Context(), b.db, csv(t, wholeExport), r.report(), options{})
	if err != nil || summary.Unknown != 1 || summary.Unlisted != (load.Gone{}) || !slices.Contains(r.bad, "left out link A-2 blocks B-9: there is no ticket B-9") {
		t.Fatalf("%+v, %v, %q", summary, err, r.bad)
	}
	for want, query := range map[int]string{
		1: `select count(*) from tickets join status using (status_id) where key = 'A-1' and assignee = 'Ann' and labels = '{pump,wet}' and description = '*Water*'
			and updated_at = '2025-03-15 13:00Z' and category = 'in_progress' and resolved_at is null and due_date = '2025-04-01' and ticket_type is null`,
		3: `select count(*) from comments`,
		4: `select count(*) from ticket_links`,
	} {
		if got := b.count(t, query); got != want {
			t.Errorf("%d, not %d: %s", got, want, query)
		}
	}
	if b.count(t, `select count(*) from ticket_links l join tickets t using (ticket_id) join tickets o on o.ticket_id = l.other_ticket_id
		where (t.key, l.kind, o.key) in (('A-1', 'blocks', 'A-2'), ('A-3', 'duplicates', 'A-1'), ('A-1', 'relates_to', 'A-2'), ('A-3', 'relates_to', 'A-2'))`) != 4 {
		t.Error("links point elsewhere")
	}
	if _, err := b.owner.Exec(t.Context(), `create table before as select 't' || ticket_id as id, ctid as place, xmin::text as writer from tickets
		union all select 'c' || comment_id, ctid, xmin::text from comments union all select 'l' || ticket_id || kind || other_ticket_id, ctid, xmin::text from ticket_links`); err != nil {
		t.Fatal(err)
	}
	if summary, err = b.load(t.Context(), b.db, csv(t, wholeExport), r.report(), options{Prune: true}); err != nil || summary.Removed != (load.Gone{}) {
		t.Fatalf("%+v, %v", summary, err)
	}
	if n := b.count(t, `select count(*) from (select 't' || ticket_id as id, ctid as place, xmin::text as writer from tickets
		union all select 'c' || comment_id, ctid, xmin::text from comments union all select 'l' || ticket_id || kind || other_ticket_id, ctid, xmin::text from ticket_links
		except select * from before) written`); n != 0 {
		t.Errorf("%d rows are written again", n)
	}
}

// PostgREST cuts responses at 1,000 rows. Pruning more than that leaves nothing behind, and no call
// of an import reads more rows than it writes at a time.
func TestPruneMoreThanOneResponse(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	database.Served = func(function string, rows int64) {
		if rows > 100 {
			t.Errorf("%s answers with %d rows", function, rows)
		}
	}
	b := newBenchOver(t, database)
	tickets := func(n int) string {
		text := strings.Builder{}
		text.WriteString("Issue key,Summary,Comment,Comment,Outward issue link (Blocks)\n")
		for i := range n {
			fmt.Fprintf(&text, "A-%d,Number %[1]d,14/Mar/25 9:30 AM;ann;One,15/Mar/25 9:30 AM;ann;Two,A-%d\n", i, cmp.Or(i, 9000)-1)
		}
		return csv(t, text.String())
	}
	var r told
	summary, err := b.load(t.Context(), b.db, tickets(1140), r.report(), options{})
	if err != nil || summary.Written["tickets"] != 1140 || summary.Unknown != 1 {
		t.Fatalf("%+v, %v", summary, err)
	}
	summary, err = b.load(t.Context(), b.db, tickets(40), r.report(), options{Prune: true, PruneMany: true})
	if err != nil || summary.Unlisted.Tickets != 1100 || summary.Removed != summary.Unlisted || b.count(t, "select count(*) from tickets") != 40 {
		t.Fatalf("%+v, %v", summary, err)
	}
}

// A batch that the database does not delete in time is halved.
func TestPruneInASlowDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var r told
	if _, err := b.load(t.Context(), b.db, folder(t, 60), r.report(), options{}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`create function tasklens.delete_few() returns trigger language plpgsql as $$
		begin
			if (select count(*) from old_rows) > 30 then
				raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
			end if;
			return null;
		end $$`,
		`create trigger delete_few after delete on public.tickets referencing old table as old_rows for each statement execute function tasklens.delete_few()`,
	} {
		if _, err := b.owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	summary, err := b.load(t.Context(), b.db, folder(t, 1), r.report(), options{Prune: true, PruneMany: true})
	if err != nil || summary.Removed.Tickets != 59 {
		t.Errorf("%+v, %v", summary, err)
	}
}
