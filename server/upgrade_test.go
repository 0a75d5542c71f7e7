package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
	"tasklens/scripts/convert/export"
	"tasklens/scripts/lab/chaos"
)

// The tickets that the clients of a fault run edit. No other row may change during an upgrade.
const edited = `(select ticket_id from upgraded.tickets order by ticket_id limit 50)`

// moving are the tables whose rows change while the service works, with a condition for those that
// do not. Columns of their own are in movingColumns. An upgrade alone changes none of them.
var moving = map[string]string{
	"public.tickets": `ticket_id not in ` + edited, "public.keyword_entries": `coalesce(ticket_id, 0) not in ` + edited,
	"public.chunks": `coalesce(ticket_id, 0) not in ` + edited, "tasklens.embedding_jobs": `dead_at is not null`,
	"tasklens.changed_rows": `false`, "tasklens.data_versions": `false`, "tasklens.data_version_changes": `false`,
	"tasklens.word_counts": `false`, "tasklens.word_count_changes": `false`,
}

// Of searches for documents, of the set of embeddings that is being built, and the new one.
const movingColumns = `{retrieval_count,last_retrieved_at,retrieval_queries,models,chunks,severity}`

// upgrade is a database in use, and the release that follows this program.
type upgrade struct {
	t        *testing.T
	database *testbed.DB
	owner    *pgx.Conn
	settings map[string]string
	files    string // to import
	folder   fs.FS  // the next migrations
	next     string // the next program
	tables   []string
}

// TestUpgrade applies the migrations of testdata/upgrade, as a patch release could have them, while
// this program serves. The program of that release is built for the test.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	u := &upgrade{t: t, database: testbed.Database(t), files: sampleOf(t, 60, 6)}
	u.owner, u.settings = startStackOver(t, u.database)
	var built func()
	u.folder, u.next, built = nextRelease(t)
	u.must("import", testbed.Convert(u.t, export.Options{}, filepath.Join(u.files, "tracker")))
	u.must("import", testbed.Convert(u.t, export.Options{}, filepath.Join(u.files, "documents")))
	u.do(text(t, "testdata/upgrade/before.sql"))
	u.atRest()
	built()
	newer := startCommand(t, exec.Command(u.next, "serve"), u.settings)
	u.refuses(newer)

	older := startProgram(t, with(u.settings, "WORKER", "off"))
	worker := startProgram(t, u.settings)
	const waiting = `select count(*) from tasklens.embedding_jobs where dead_at is null`
	await(t, u.owner, 0, waiting)
	await(t, u.owner, 0, `select count(*) from tasklens.former_languages`)
	found := results(t, older.url)
	u.keepRows(0)
	u.underLoad(older, worker)

	u.do(`update public.tickets t set description = b.description from upgraded.tickets b where b.ticket_id = t.ticket_id and t.description is distinct from b.description`)
	await(t, u.owner, 0, waiting)
	for _, table := range u.tables {
		condition, moves := moving[table]
		if !moves {
			condition = `true`
		}
		u.compareRows(table, condition, movingColumns)
	}
	for name, p := range map[string]*program{"this": older, "the next": newer} {
		for range 2 {
			fetch(t, http.MethodGet, p.url+"/readyz", "", http.StatusOK)
		}
		if diff := cmp.Diff(found, results(t, p.url)); diff != "" {
			t.Errorf("%s program finds something else: %s", name, diff)
		}
	}
	until(t, "the worker of the next program does not begin", func() bool { return called(t, newer, "claim_embedding_jobs") > 0 })
	u.must("import", testbed.Convert(u.t, export.Options{}, filepath.Join(u.files, "tracker")))
	u.do(`select public.replay_embedding_jobs()`)
	await(t, u.owner, 0, `select count(*) from tasklens.embedding_jobs`)
	await(t, u.owner, 1, `select public.finish_reembed()::integer`)
	u.settings["EMBEDDING_MODEL"] = nextModel
	if out := u.must("check"); !strings.Contains(out, "warning  migration 20990101000000: this program does not know it") {
		t.Errorf("check says %s", out)
	}
	for _, p := range []*program{older, newer} {
		p.signal(t)
		if err := p.awaitEnd(t, time.Minute); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(older.log.String(), "the database has migrations that this program does not know"); n != 1 {
		t.Errorf("this program logs %d times that the schema is newer", n)
	}
	if n := strings.Count(newer.log.String(), `msg="the worker waits" error="`+lacks); n != 1 {
		t.Errorf("the next program logs %d times that it waits", n)
	}
}

// atRest applies the migrations while nothing works, and takes them back: no row, grant or setting
// changes.
func (u *upgrade) atRest() {
	u.t.Helper()
	u.do(`begin`)
	u.keepRows(1)
	before := u.functions()
	files, _ := fs.Glob(u.folder, "2099*.sql")
	for _, file := range files {
		u.do(text(u.t, filepath.Join("testdata/upgrade", file)))
	}
	for _, table := range u.tables {
		u.compareRows(table, `true`, `{severity}`)
	}
	if diff := cmp.Diff(before, u.functions()); diff != "" {
		u.t.Errorf("functions have other callers, settings or comments: %s", diff)
	}
	await(u.t, u.owner, 0, `select count(*) from (select part from tasklens.present_parts() except select part from tasklens.installed_parts) p`)
	u.do(`rollback`)
}

const lacks = "the database lacks 2 migrations, the first of them 20990101000000_ticket_severity.sql"

// refuses checks that the next program is not ready over the older schema, that its verbs refuse it
// and that its worker waits.
func (u *upgrade) refuses(newer *program) {
	u.t.Helper()
	if said := fetch(u.t, http.MethodGet, newer.url+"/readyz", "", http.StatusServiceUnavailable); said !=
		`{"missing":["migration 20990101000000_ticket_severity.sql","migration 20990101000010_comment_authors.sql"],"status":"not ready"}` {
		u.t.Errorf("readyz says %s", said)
	}
	for want, verbs := range map[string][][]string{
		lacks: {{"import", testbed.Convert(u.t, export.Options{}, filepath.Join(u.files, "tracker"))}, {"backfill"}, {"reembed"}, {"enrich"}},
		"error    migration 20990101000010_comment_authors.sql: it is not applied": {{"check"}},
	} {
		for _, verb := range verbs {
			if out, err := u.run(u.next, verb...); err == nil || !strings.Contains(out, want) {
				u.t.Errorf("%v: %v, %s", verb, err, out)
			}
		}
	}
	until(u.t, "the worker does not wait for the migrations", func() bool { return called(u.t, newer, "list_migrations") > 2 })
	if called(u.t, newer, "claim_embedding_jobs") > 0 {
		u.t.Error("a worker claims jobs of an older schema")
	}
}

// underLoad applies the migrations while clients search, ask and edit. The first attempt meets a
// long transaction and must give up.
func (u *upgrade) underLoad(older, worker *program) {
	u.t.Helper()
	run := chaos.Run{Service: older.url, DatabaseURL: u.database.OwnerURL, Clients: 4, Recovery: 3 * time.Minute}
	if !testing.Short() {
		run.Clients = 16
	}
	words, say := io.Pipe()
	var table bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run.Do(u.t.Context(), words, &table)
		_ = words.CloseWithError(errors.New("the clients have ended"))
	}()
	tell := func(word string) {
		u.t.Helper()
		if _, err := fmt.Fprintln(say, word); err != nil {
			u.t.Fatalf("%v: %v\n%s", err, <-ended, &table)
		}
	}
	crash := func() {
		u.t.Helper()
		if !testing.Short() {
			_ = worker.command.Process.Kill()
			<-worker.ended
			worker = startProgram(u.t, u.settings)
		}
	}
	apply := func() (applied int, tooLong bool) {
		u.t.Helper()
		applied, err := testbed.Migrate(u.t.Context(), testbed.Connect(u.t, u.database.OwnerURL), u.folder)
		var failed *pgconn.PgError
		if tooLong = errors.As(err, &failed) && failed.Code == "55P03"; err != nil && !tooLong {
			u.t.Fatal(err)
		}
		return applied, tooLong
	}

	tell("phase while it waits for a lock")
	u.do(`create index concurrently if not exists comments_author_idx on public.comments (author)`)
	report := testbed.Connect(u.t, u.database.OwnerURL)
	if _, err := report.Exec(u.t.Context(), `begin; select from public.tickets limit 1`); err != nil {
		u.t.Fatal(err)
	}
	if applied, tooLong := apply(); applied > 0 || !tooLong {
		u.t.Fatalf("under a long transaction %d are applied", applied)
	}
	if _, err := report.Exec(u.t.Context(), `commit`); err != nil {
		u.t.Fatal(err)
	}
	tell("phase while it is applied")
	for applied := 0; applied < 2; {
		crash()
		n, _ := apply()
		applied += n
	}
	tell("phase afterwards")
	for range 5 {
		crash()
		tell("calm")
		if testing.Short() {
			break
		}
	}
	tell("phase end")
	_ = say.Close()
	if err := <-ended; err != nil {
		u.t.Errorf("%v\n%s", err, &table)
	}
	u.t.Logf("%s", strings.ReplaceAll(table.String(), "ok\n", ""))
	if other := regexp.MustCompile(`(?m)^\|.*( [45]\d\d: |no answer|error event).*$`).FindAllString(table.String(), -1); other != nil {
		u.t.Errorf("not every request is answered: %q", other)
	}
}
