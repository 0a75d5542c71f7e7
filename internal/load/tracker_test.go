package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/load"
	"tasklens/internal/ticketfile"
)

const exportHeader = "Issue key,Summary,Status,Status Category,Issue Type,Priority,Assignee,Reporter,Labels,Due date,Resolved,Created,Updated,Comment,Comment,Parent key,Outward issue link (Duplicate),Inward issue link (Blocks)\n"

// export returns a CSV export with these rows.
func export(t *testing.T, rows ...string) *ticketfile.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.csv")
	if err := os.WriteFile(path, []byte(exportHeader+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := ticketfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

const (
	leak  = `AB-1,Pump leaks,Ready to go,Done,Bug,High,Ann,Bo,wet,20/Mar/25,21/Mar/25 8:00 AM,14/Mar/25 9:00 AM,21/Mar/25 8:00 AM,14/Mar/25 9:30 AM;ann;Turn the *brass valve*,15/Mar/25 9:30 AM;bo;It holds,,AB-2,AB-3`
	drips = `AB-2,Pump drips,To Do,To Do,Bug,,,Bo,,,,14/Mar/25 9:00 AM,14/Mar/25 9:00 AM,,,AB-3,,`
	epic  = `AB-3,Pumps,To Do,To Do,Epic,,,Bo,,,,14/Mar/25 9:00 AM,14/Mar/25 9:00 AM,,,,,`
)

// stored lists the tracker's rows.
func (b bench) stored(t *testing.T) []string {
	t.Helper()
	rows, err := b.owner.Query(t.Context(), `
		select format('%s %s/%s %s %s %s>%s %s due %s done %s of %s', t.key, s.name, s.category, t.ticket_type, t.priority, t.reporter, t.assignee, t.labels, t.due_date,
			to_char(t.resolved_at at time zone 'UTC', 'MM-DD HH24:MI'), to_char(t.updated_at at time zone 'UTC', 'MM-DD HH24:MI')) as line
		from public.tickets t join public.status s using (status_id)
		union all select format('%s: %s at %s: %s', t.key, c.author, to_char(c.created_at at time zone 'UTC', 'MM-DD HH24:MI'), c.body) from public.comments c join public.tickets t using (ticket_id)
		union all select format('%s %s %s', f.key, l.kind, o.key)
			from public.ticket_links l join public.tickets f using (ticket_id) join public.tickets o on o.ticket_id = l.other_ticket_id
		order by line`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestATrackerIsLoadedWithItsCommentsAndLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var r told
	file := export(t, leak, drips, epic)
	summary, err := load.Load(t.Context(), b.db, b.indexer, file, load.Options{}, r.report())
	if err != nil || summary.Tickets != 3 || summary.Comments != 2 || summary.BadFields+summary.BadLinks+summary.Unindexed > 0 || summary.Lacking.Any() {
		t.Fatalf("%+v, %v, %q", summary, err, r.bad)
	}
	want := []string{
		"AB-1 Ready to go/done Bug High Bo>Ann {wet} due 2025-03-20 done 03-21 08:00 of 03-21 08:00",
		"AB-1 duplicates AB-2",
		"AB-1: ann at 03-14 09:30: Turn the brass valve",
		"AB-1: bo at 03-15 09:30: It holds",
		"AB-2 To Do/to_do Bug  Bo> {} due  done  of 03-14 09:00",
		"AB-2 child_of AB-3",
		"AB-3 To Do/to_do Epic  Bo> {} due  done  of 03-14 09:00",
		"AB-3 blocks AB-1",
	}
	if diff := cmp.Diff(want, b.stored(t)); diff != "" {
		t.Error(diff)
	}
	// A project, three tickets and two comments.
	if n := b.count(t, "select count(*) from chunks"); n != 6 || summary.Chunks != 6 {
		t.Errorf("%d chunks are stored, and %d are told", n, summary.Chunks)
	}
	before := b.fingerprint(t)
	again, err := load.Load(t.Context(), b.db, b.indexer, file, load.Options{Prune: true}, r.report())
	if err != nil || again.Embedded > 0 || again.Lacking.Any() || !again.Pruned {
		t.Errorf("loaded again: %+v, %v", again, err)
	}
	if b.fingerprint(t) != before {
		t.Error("loading again wrote rows")
	}
}

func TestWhatAFileLacksIsToldAndPruned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var r told
	if _, err := load.Load(t.Context(), b.db, b.indexer, export(t, leak, drips, epic), load.Options{}, r.report()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.owner.Exec(t.Context(), `
		insert into public.comments (ticket_id, author, body) select ticket_id, 'here', 'Written here' from public.tickets where key = 'AB-1';
		insert into public.projects (key, name) values ('XY', 'Another');
		insert into public.tickets (project_id, status_id, name) select p.project_id, s.status_id, 'Stays' from public.projects p, public.status s where p.key = 'XY' limit 1`); err != nil {
		t.Fatal(err)
	}
	less := strings.Replace(strings.Replace(leak, "15/Mar/25 9:30 AM;bo;It holds", "", 1), ",AB-2,AB-3", ",,AB-3", 1)
	lacking := load.Lacking{Tickets: 1, Comments: 1, Links: 1}
	all := b.stored(t)

	for name, file := range map[string]*ticketfile.Reader{
		"without --prune": export(t, less, epic), "with a bad row": export(t, less, epic, ",No key,,,,,,,,,,,,,,,,"), "with a key twice": export(t, less, epic, epic),
	} {
		summary, err := load.Load(t.Context(), b.db, b.indexer, file, load.Options{Prune: name != "without --prune"}, r.report())
		if err != nil || summary.Pruned || summary.Compared != (name == "without --prune") || summary.Compared && summary.Lacking != lacking {
			t.Errorf("%s: %+v, %v", name, summary, err)
		}
		if diff := cmp.Diff(all, b.stored(t)); diff != "" {
			t.Errorf("%s, yet something is other than it was:\n%s", name, diff)
		}
	}
	if want := []string{"AB-2"}; !slices.Equal(r.lacking, want) {
		t.Errorf("told to be lacking are %q", r.lacking)
	}
	summary, err := load.Load(t.Context(), b.db, b.indexer, export(t, less, epic), load.Options{Prune: true}, r.report())
	if err != nil || !summary.Pruned || summary.Lacking != lacking {
		t.Errorf("%+v, %v", summary, err)
	}
	left := slices.DeleteFunc(all, func(line string) bool {
		return strings.HasPrefix(line, "AB-2") || strings.Contains(line, "It holds") || strings.HasSuffix(line, "AB-2")
	})
	if diff := cmp.Diff(left, b.stored(t)); diff != "" {
		t.Errorf("after pruning:\n%s", diff)
	}
}

// A missing field leaves the stored value unchanged. An empty field clears it.
func TestAFieldThatAFileLacksStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var r told
	if _, err := load.Load(t.Context(), b.db, b.indexer, export(t, leak), load.Options{}, r.report()); err != nil {
		t.Fatal(err)
	}
	ticket := func(more string) *ticketfile.Reader {
		return folder(t, 0, fmt.Sprintf(`{"ticket_id":"AB-1","project_id":"AB","name":"Pump leaks","status":"Ready to go"%s}`, more))
	}
	details := "select count(*) from tickets where key = 'AB-1' and assignee = 'Ann' and labels = '{wet}' and due_date = '2025-03-20' and resolved_at is not null"
	if _, err := load.Load(t.Context(), b.db, b.indexer, ticket(""), load.Options{Prune: true}, r.report()); err != nil {
		t.Fatal(err)
	}
	if b.count(t, details) != 1 || b.count(t, "select count(*) from comments") != 2 || b.count(t, "select count(*) from status where name = 'Ready to go' and category = 'done'") != 1 {
		t.Errorf("something was emptied that the file does not have: %q", b.stored(t))
	}
	if _, err := load.Load(t.Context(), b.db, b.indexer, ticket(`,"assignee":null,"labels":[],"due_date":null,"resolved_at":null,"comments":[]`), load.Options{Prune: true}, r.report()); err != nil {
		t.Fatal(err)
	}
	if b.count(t, "select count(*) from tickets where key = 'AB-1' and assignee is null and labels = '{}' and due_date is null and resolved_at is null and reporter = 'Bo'") != 1 ||
		b.count(t, "select count(*) from comments") != 0 {
		t.Errorf("not all was emptied, or too much: %q", b.stored(t))
	}
}
