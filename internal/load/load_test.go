package load_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/load"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
	"tasklens/internal/ticketfile"
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
func folder(t *testing.T, n int, extra ...string) *ticketfile.Reader {
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
	origin  string
	gone    []string
	bad     []string
	written int
}

func (r *told) report() load.Report {
	return load.Report{
		Began:   func(origin string) { r.origin = origin },
		Written: func(rows int) { r.written += rows },
		Trouble: func(kind load.Trouble, err error) {
			if kind == load.Unlisted {
				r.gone = append(r.gone, err.Error())
				return
			}
			text := err.Error()
			if row, is := errors.AsType[*ticketfile.RowError](err); is {
				text = fmt.Sprintf("%s:%d %s", filepath.Base(row.File), row.Line, row.Reason)
			}
			r.bad = append(r.bad, string(kind)+" "+text)
		},
	}
}

// interrupted is a database that an import can write to this often before it is stopped.
type interrupted struct {
	load.Database
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
	return i.Database.Call(ctx, function, arguments, result)
}

func TestInterruptedLoadContinues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rows := folder(t, 450)
	var r told
	// The projects and one of the five batches of tickets.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := load.Load(ctx, &interrupted{Database: b.db, stop: stop, left: 2}, rows, r.report(), load.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the load ended with %v", err)
	}
	if done := b.count(t, "select count(*) from tickets"); done != 100 {
		t.Fatalf("%d tickets before the interruption", done)
	}
	if summary, err := load.Load(t.Context(), b.db, rows, r.report(), load.Options{}); err != nil || summary.Tickets != 450 {
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
