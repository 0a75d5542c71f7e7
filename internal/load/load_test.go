package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/load"
	"tasklens/internal/postgrest"
	"tasklens/internal/rpc"
	"tasklens/internal/testbed"
	"tasklens/scripts/convert/export"
)

// bench is a test's own database with everything needed to import into it.
type bench struct {
	db      *postgrest.Session
	owner   *pgx.Conn
	connect func(t *testing.T) *pgx.Conn // as the owner too
}

func newBench(t *testing.T) bench {
	t.Helper()
	return newBenchOver(t, testbed.Database(t))
}

func newBenchOver(t *testing.T, database *testbed.DB) bench {
	t.Helper()
	url, secret := testbed.REST(t, database)
	return bench{
		db:      postgrest.New(url, testbed.Token(t, secret, "service_role"), testbed.Schema()).AsService(),
		owner:   testbed.Connect(t, database.OwnerURL),
		connect: func(t *testing.T) *pgx.Conn { return testbed.Connect(t, database.OwnerURL) },
	}
}

func (b bench) count(t *testing.T, query string) int {
	t.Helper()
	var n int
	if err := b.owner.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// folder writes an import of n good tickets in two projects, with extra lines at the end of
// tickets.jsonl.
func folder(t *testing.T, n int, extra ...string) string {
	t.Helper()
	var tickets strings.Builder
	for i := range n {
		fmt.Fprintf(&tickets, `{"ticket_id":"AB-%d","project_id":"AB","name":"Ticket number %d","description":"The pump of station %d leaks","status":"Done","notes":[{"status":"Done","note":"Sealed it with ring %d"}]}`+"\n", i+1, i+1, i, i)
	}
	tickets.WriteString(strings.Join(extra, "\n"))
	return files(t, map[string]string{
		"projects.jsonl": `{"project_id":"AB","name":"Pumps","description":"Water"}` + "\n" + `{"project_id":"CD","name":"Pipes"}` + "\n",
		"tickets.jsonl":  tickets.String(),
	})
}

// told collects the messages of an import.
type told struct {
	origin string
	bad    []string
}

func (r *told) report() load.Report {
	return load.Report{
		Began:   func(origin string) { r.origin = origin },
		Written: func(int, int) {},
		Trouble: func(kind string, err error) {
			if kind != "not in the files" {
				r.bad = append(r.bad, kind+" "+err.Error())
			}
		},
	}
}

// options are those of both halves of an import.
type options struct {
	Origin                     string
	TakeOver, Prune, PruneMany bool
}

// load converts files, and imports what that gives.
func (b bench) load(ctx context.Context, db rpc.Caller, from string, report load.Report, o options) (load.Summary, error) {
	folder, err := os.MkdirTemp(filepath.Dir(from), "rows")
	if err != nil {
		return load.Summary{}, err
	}
	_, err = testbed.ConvertTo(folder, io.Discard, export.Options{Origin: o.Origin, Restricted: export.Keep}, from)
	if err != nil {
		return load.Summary{}, err
	}
	return load.Load(ctx, db, load.Rows(folder), report, load.Options{TakeOver: o.TakeOver, Prune: o.Prune, PruneMany: o.PruneMany})
}

// interrupted is a database that an import can write to this often before it is stopped.
type interrupted struct {
	rpc.Caller
	stop context.CancelFunc
	left int
}

func (i *interrupted) Call(ctx context.Context, function string, arguments, result any) error {
	if strings.HasPrefix(function, "upsert_") {
		if i.left--; i.left < 0 {
			i.stop()
			return ctx.Err()
		}
	}
	return i.Caller.Call(ctx, function, arguments, result)
}

func TestInterruptedLoadContinues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rows := folder(t, 450)
	var r told
	// The projects and one of the five batches of tickets.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := b.load(ctx, &interrupted{Caller: b.db, stop: stop, left: 2}, rows, r.report(), options{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the load ended with %v", err)
	}
	if done := b.count(t, "select count(*) from tickets"); done != 100 {
		t.Fatalf("%d tickets before the interruption", done)
	}
	if summary, err := b.load(t.Context(), b.db, rows, r.report(), options{}); err != nil || summary.Written["tickets"] != 450 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if n := b.count(t, "select count(*) from status_changes"); n != 450 {
		t.Errorf("%d notes, want 450", n)
	}
	// All wait for workers, after what users edit meanwhile.
	if n := b.count(t, "select count(distinct source_id) from tasklens.embedding_jobs"); n != 452 {
		t.Errorf("%d sources are queued, want 452", n)
	}
	if n := b.count(t, "select count(*) from tasklens.embedding_jobs where not background"); n > 2+50 {
		t.Errorf("%d are queued as fresh edits", n)
	}
}

// More projects than a response has rows are written in parts. Lines that nobody converted are
// refused one by one: private ones here, wrong ones by the database.
func TestHandWrittenLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var projects strings.Builder
	for i := range 1050 {
		fmt.Fprintf(&projects, `{"project_id":"P%d","name":"Number %[1]d"}`+"\n", i)
	}
	folder := testbed.Folder(t, "rows", map[string]string{"projects.jsonl": projects.String(), "tickets.jsonl": `{"ticket_id":"P1-1","project_id":"P1","name":"Pump leaks","comments":[
{"ticket_id":"P1-2","project_id":"P1","name":"Pump hums","comments":[{"key":"1","body":"wombat","internal":true},{"key":"2","body":"Loud"}],"url":"https://example.org/2"}
{"ticket_id":"P1-3","project_id":"P1","name":"wombat","visibility":"hr"}
{"ticket_id":"P1-4","project_id":"P1","name":"Pump drips","due_date":"soon"}
{"ticket_id":"P1-5","project_id":"none","name":"Pump stands"}
{"ticket_id":"P1-6","project_id":"P1","name":"Pump runs","url":"javascript:alert(1)"}
{"ticket_id":"P1-7","project_id":"P1","name":"Pump stops","format":"A4","content":"none"}
{"path":"a.md","title":"A","content":"A"}
{"name":"nothing"}
`})
	var r told
	sum, err := load.Load(t.Context(), b.db, load.Rows(folder), r.report(), load.Options{Prune: true})
	if !errors.Is(err, load.ErrRows) || !strings.Contains(err.Error(), "documents need a manifest") {
		t.Errorf("documents without an origin: %v", err)
	}
	lines := filepath.Join(folder, "tickets.jsonl")
	text, err := os.ReadFile(lines)
	if err == nil {
		err = os.WriteFile(lines, []byte(strings.Replace(string(text), `{"path":"a.md","title":"A","content":"A"}`+"\n", "", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r = told{}
	sum, err = load.Load(t.Context(), b.db, load.Rows(folder), r.report(), load.Options{Prune: true})
	if !errors.Is(err, load.ErrNotPruned) || !strings.Contains(err.Error(), "manifest.json") || sum.Written["projects"] != 1050 || sum.Written["tickets"] != 2 || sum.BadRows != 6 {
		t.Errorf("%v, %+v", err, sum)
	}
	for i, want := range []string{":1: this is not a JSON object", ":2: P1-2: comments that not everybody may read, left out: internal: true", ":3: P1-3: not everybody may read it: visibility: hr",
		":4: P1-4: its due_date is soon", ":5: P1-5: there is no project none", ":6: P1-6: its url is no address of a page", ":8: it has none of"} {
		if i >= len(r.bad) || !strings.Contains(r.bad[i], "tickets.jsonl"+want) {
			t.Errorf("message %d is not %q: %q", i, want, r.bad)
		}
	}
	if n := b.count(t, "select count(*) from tickets where name like '%wombat%'") + b.count(t, "select count(*) from comments where body like '%wombat%'"); n != 0 {
		t.Errorf("%d private texts are stored", n)
	}
	if n := b.count(t, "select count(*) from tickets where url = 'https://example.org/2'"); n != 1 {
		t.Error("the address of a ticket is not stored")
	}
}

// Rows that end before the manifest says so are not a whole export, and an export without rows
// lists no documents: neither removes anything.
func TestManifestAndRowsDiffer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rows := func(lines string) (load.Summary, error) {
		folder := testbed.Folder(t, "rows", map[string]string{"manifest.json": lines})
		var r told
		return load.Load(t.Context(), b.db, load.Rows(folder), r.report(), load.Options{Prune: true, PruneMany: true})
	}
	if _, err := rows(`{"format":"markdown","origin":"notes","whole":true,"documents":1,"paths":["a.md"]}` + "\n" + `{"path":"a.md","title":"A","content":"A"}`); err != nil {
		t.Fatal(err)
	}
	project, ticket := `{"project_id":"AB","name":"Pumps"}`+"\n", `{"ticket_id":"AB-%d","project_id":"AB","name":"Pump %[1]d"}`+"\n"
	whole := `{"format":"jira","whole":true,"projects":1,"tickets":2}` + "\n" + project + fmt.Sprintf(ticket, 1)
	if _, err := rows(whole + fmt.Sprintf(ticket, 2)); err != nil {
		t.Fatal(err)
	}
	if sum, err := rows(whole); !errors.Is(err, load.ErrNotPruned) || sum.Given.Incomplete != "they are cut off after 2 of 3 rows" {
		t.Errorf("cut off: %v, %+v", err, sum)
	}
	if sum, err := rows(`{"format":"jira","origin":"notes","whole":true}`); sum.Removed != (load.Gone{}) {
		t.Errorf("without rows: %v, %+v", err, sum)
	}
	// Each row of a ticket has comments that the other lacks, and the last alone would count.
	comment := `,"comments":[{"key":"%d","body":"Loud"}]}` + "\n"
	row := strings.TrimSuffix(fmt.Sprintf(ticket, 1), "}\n")
	if sum, err := rows(whole + row + fmt.Sprintf(comment, 1) + row + fmt.Sprintf(comment, 2)); err == nil {
		t.Errorf("a ticket twice: %+v", sum)
	}
	if n := b.count(t, "select count(*) from comments"); n != 2 {
		t.Errorf("%d comments of the ticket that comes twice are left", n)
	}
	if sum, err := rows(`{"format":"jira","whole":true,"projects":1}` + "\n" + project); !errors.Is(err, load.ErrNotPruned) {
		t.Errorf("a project without tickets: %v, %+v", err, sum)
	}
	if n := b.count(t, "select (select count(*) from tickets) + 10 * (select count(*) from documents)"); n != 12 {
		t.Errorf("%d: something was removed", n)
	}
}
