package examples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
)

// The page is followed from start to end, as a reader does with psql.
func TestOwnTables(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/own-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	makeTracker(t, owner, 3000)
	query := func(ctx context.Context, sql string) (string, error) {
		results, err := owner.PgConn().Exec(ctx, sql).ReadAll()
		var out strings.Builder
		for _, result := range results {
			for _, row := range result.Rows {
				out.Write(bytes.Join(row, []byte(" | ")))
				out.WriteByte('\n')
			}
		}
		return out.String(), err
	}
	var wrong strings.Builder
	if err := Steps(t.Context(), "docs/own-tables.md", string(page), query, &wrong); err != nil {
		t.Errorf("%v\n%s", err, wrong.String())
	}
}

// makeTracker makes the application of the page, with so many issues.
func makeTracker(t *testing.T, owner *pgx.Conn, issues int) {
	t.Helper()
	sql, err := os.ReadFile("../../../docs/examples/own-tables/tracker.sql")
	if err != nil {
		t.Fatal(err)
	}
	const rows = "generate_series(1, 3000)"
	if !strings.Contains(string(sql), rows) {
		t.Fatalf("the application has no %s", rows)
	}
	fewer := strings.Replace(string(sql), rows, fmt.Sprintf("generate_series(1, %d)", issues), 1)
	if _, err := owner.PgConn().Exec(t.Context(), fewer).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// followOwnTables runs the page's steps, with fewer issues, up to the one that contains last.
func followOwnTables(t *testing.T, owner *pgx.Conn, last string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/own-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	makeTracker(t, owner, 400)
	for _, b := range blocks(string(page)) {
		if !b.isStep() {
			continue
		}
		if strings.Contains(b.text, last) {
			return
		}
		if _, err := owner.PgConn().Exec(t.Context(), b.text).ReadAll(); err != nil {
			t.Fatalf("%s: %v", b.name(), err)
		}
	}
	t.Fatalf("the page has no step with %s", last)
}

// copyAll copies what waits, and reports where the copies are not what the views show. Refused rows
// have none.
func copyAll(t *testing.T, owner *pgx.Conn) {
	t.Helper()
	for copied := int64(1); copied > 0; {
		if err := owner.QueryRow(t.Context(), "select copy_changes()").Scan(&copied); err != nil {
			t.Fatal(err)
		}
	}
	const present = ` join tasklens.attached_rows a on a.kind = '%s' and a.key = v.%s::text and a.reason is null `
	for what, sql := range map[string]string{
		"projects": `select count(*) from (select a.id, v.key, v.name from search.projects v` + fmt.Sprintf(present, "projects", "project_id") + `) v
			full join public.projects p on (v.id, v.key, v.name) = (p.project_id, p.key, p.name) where v.id is null or p.key is null`,
		"tickets": `select count(*) from (select a.id, v.key, v.name, v.status, v.assignee, v.updated_at, p.id as project_id from search.tickets v` + fmt.Sprintf(present, "tickets", "ticket_id") + `
				join tasklens.attached_rows p on p.kind = 'projects' and p.key = v.project_id::text) v
			full join (select t.*, s.name as status from public.tickets t join public.status s using (status_id)) t
			on (v.id, v.key, v.project_id, v.name, lower(v.status)) = (t.ticket_id, t.key, t.project_id, t.name, lower(t.status))
				and (v.assignee, v.updated_at) is not distinct from (t.assignee, t.updated_at)
			where v.id is null or t.ticket_id is null`,
		"comments": `select count(*) from (select a.id, v.author, v.body from search.comments v` + fmt.Sprintf(present, "comments", "comment_id") + `) v
			full join public.comments c on (v.id, v.body) = (c.comment_id, c.body) and v.author is not distinct from c.author where v.id is null or c.comment_id is null`,
		"members": `select count(*) from (select distinct a.id, v.user_id from search.members v` + fmt.Sprintf(present, "projects", "project_id") + ` where v.user_id is not null) v
			full join public.project_members m on (v.id, v.user_id) = (m.project_id, m.user_id) where v.user_id is null or m.user_id is null`,
		// Every row that has no copy has one of these reasons: its key is another's, or its ticket or
		// project has no copy.
		"reasons":         `select count(*) from tasklens.attached_rows where reason !~ '^(the key [A-Z]+(-[0-9]+)? is taken|there is no copy of its (project|ticket))$'`,
		"rows never seen": `select (select count(*) from search.tickets) - (select count(*) from tasklens.attached_rows where kind = 'tickets')`,
	} {
		var differ int
		if err := owner.QueryRow(t.Context(), sql).Scan(&differ); err != nil || differ != 0 {
			t.Errorf("%s that differ: %d %v", what, differ, err)
			var reasons string
			if err := owner.QueryRow(t.Context(), "select coalesce(string_agg(distinct kind || ' ' || reason, '; '), '') from tasklens.attached_rows").Scan(&reasons); err == nil {
				t.Logf("rows have no copy because: %s", reasons)
			}
		}
	}
}

// Writers continue while two workers copy what is there and what they write, and copies are undone
// as by a crash. Nothing fails, and at rest the copies are what the views show.
func TestOwnTablesFollowConcurrentWriters(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	followOwnTables(t, owner, "copy_changes(100000) > 3000")
	writing, stop := context.WithCancel(t.Context())
	var writers, copiers sync.WaitGroup
	for writer := range 4 {
		conn := testbed.Connect(t, db.OwnerURL)
		random := rand.New(rand.NewPCG(1, uint64(writer)))
		writers.Go(func() {
			for range 60 {
				number := 1 + random.IntN(400)
				sql := []string{
					"update tracker.issues set title = title || '.', edited_at = now() where number = $1",
					"update tracker.issues set deleted_at = case when deleted_at is null then now() end where number = $1",
					"insert into tracker.remarks (issue, body) select id, 'Seen.' from tracker.issues where number = $1",
					"update tracker.remarks set body = body || '.' where issue = (select min(id::text)::uuid from tracker.issues where number = $1)",
					"update tracker.issues set board = 3 - board where number = $1",
					"update tracker.issues set number = case number when $1 then $1 + 1 else $1 end where number in ($1, $1 + 1)",
					"update tracker.issues set state = 3 - state, assigned_to = (select id from tracker.people where name in ('Ada', 'Noor') order by random() limit 1) where number = $1",
					"with p as (insert into tracker.people (name, account) values ('Bo', gen_random_uuid()) returning id) insert into tracker.seats select 1, id from p",
					"delete from tracker.people where id = (select id from tracker.people where name = 'Bo' order by id limit 1 for update skip locked)",
					"update tracker.states set label = label || '!' where id = 1",
					"delete from tracker.remarks where issue in (select id from tracker.issues where number = $1)",
					"delete from tracker.issues where number = $1",
					"begin; insert into tracker.issues (board, number, state, title) values (1, 1000 + $1, 1, 'New'); update tracker.issues set title = 'Newer' where number = 1000 + $1; commit",
					"update tracker.boards set deleted_at = case when deleted_at is null then now() end where id = 2",
					"update tracker.boards set prefix = case prefix when 'PAY' then 'SHIP' else 'PAY' end where id = 1",
				}[random.IntN(15)]
				_, err := conn.PgConn().Exec(t.Context(), strings.ReplaceAll(sql, "$1", strconv.Itoa(number))).ReadAll()
				if deadlock := new(pgconn.PgError); err != nil && (!errors.As(err, &deadlock) || deadlock.Code != "40P01") { // of two writers
					t.Errorf("%s: %v", sql, err)
				}
			}
		})
	}
	for _, sql := range []string{"select copy_changes(50)", "set role service_role; select from claim_embedding_jobs()", "begin; select copy_changes(50); rollback"} {
		conn := testbed.Connect(t, db.OwnerURL)
		copiers.Go(func() {
			for writing.Err() == nil {
				if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	copiers.Wait()
	copyAll(t, owner)
	var tickets int
	if err := owner.QueryRow(t.Context(), "select count(*) from public.tickets").Scan(&tickets); err != nil || tickets == 0 {
		t.Errorf("%d tickets: %v", tickets, err)
	}
}

// A transaction that copies holds no lock that a writer needs.
func TestOwnTablesWritersNeverWait(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner, copier := testbed.Connect(t, db.OwnerURL), testbed.Connect(t, db.OwnerURL)
	followOwnTables(t, owner, "copy_changes(100000) > 3000")
	for conn, sql := range map[*pgx.Conn]string{owner: "set lock_timeout = '1ms'", copier: "begin; select copy_changes(100000)"} {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		"update tracker.issues set title = 'Another'", "update tracker.boards set title = 'Another', prefix = prefix || 'X'", "delete from tracker.remarks", "delete from tracker.people",
		"update tracker.states set label = repeat('x', 200)", "delete from tracker.seats", "delete from tracker.boards where id = 1",
	} {
		if _, err := owner.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// Two copiers could store what the other one has read since.
	var copied *int64
	if err := owner.QueryRow(t.Context(), "select copy_changes()").Scan(&copied); err != nil || copied != nil {
		t.Errorf("a second copier copied %v: %v", copied, err)
	}
	if _, err := copier.PgConn().Exec(t.Context(), "commit").ReadAll(); err != nil {
		t.Error(err)
	}
	if _, err := owner.PgConn().Exec(t.Context(), "update tracker.states set label = 'Open'").ReadAll(); err != nil {
		t.Error(err)
	}
	copyAll(t, owner)
}
