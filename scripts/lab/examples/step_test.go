package examples

import (
	"bytes"
	"context"
	"errors"
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

// followOwnTables runs the page's steps, with fewer issues, up to the one that contains last.
func followOwnTables(t *testing.T, owner *pgx.Conn, last string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/own-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	const rows = "generate_series(1, 3000)"
	if !strings.Contains(string(page), rows) {
		t.Fatalf("the page has no %s", rows)
	}
	for _, b := range blocks(strings.Replace(string(page), rows, "generate_series(1, 400)", 1)) {
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

// Users reach none of the mirror's functions, which run as the owner and hold its locks.
func TestOwnTablesMirrorIsClosed(t *testing.T) {
	t.Parallel()
	owner := testbed.Connect(t, testbed.Database(t).OwnerURL)
	followOwnTables(t, owner, "drop schema mirror")
	rows, err := owner.Query(t.Context(), `
		select p.oid::regprocedure::text as routine,
			coalesce((select string_agg(r.role, ' ' order by r.role) from unnest(array['anon', 'authenticated']) as r(role)
				where has_function_privilege(r.role, p.oid, 'execute') or has_schema_privilege(r.role, p.pronamespace, 'usage')), '') as callers
		from pg_catalog.pg_proc p where p.pronamespace = 'mirror'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	routines, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Routine, Callers string }])
	if err != nil || len(routines) == 0 {
		t.Fatalf("found %d routines, %v", len(routines), err)
	}
	for _, r := range routines {
		if r.Callers != "" {
			t.Errorf("%s can be reached by %s", r.Routine, r.Callers)
		}
	}
	for _, role := range []string{"anon", "authenticated"} {
		_, err := owner.PgConn().Exec(t.Context(), "set role "+role+"; select mirror.wait_for('{}', '{2}')").ReadAll()
		if refused := new(pgconn.PgError); !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("wait_for as %s: %v", role, err)
		}
	}
}

// Writers continue during the backfill while a board is deleted and restored. Nothing deadlocks,
// and afterwards the mirror equals the tables.
func TestOwnTablesFollowConcurrentWriters(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	owner := testbed.Connect(t, db.OwnerURL)
	followOwnTables(t, owner, "call mirror.backfill")
	var writers sync.WaitGroup
	for writer := range 4 {
		conn := testbed.Connect(t, db.OwnerURL)
		random := rand.New(rand.NewPCG(1, uint64(writer)))
		writers.Add(1)
		go func() {
			defer writers.Done()
			for n := range 60 {
				number := 1 + random.IntN(400)
				sql := []string{
					"update tracker.issues set title = title || '.', edited_at = now() where number = $1",
					"update tracker.issues set deleted_at = case when deleted_at is null then now() end where number = $1",
					"insert into tracker.issue_comments (issue_id, body) select id, 'Seen.' from tracker.issues where number = $1",
					"update tracker.issue_comments set body = body || '.' where issue_id = (select id from tracker.issues where number = $1)",
					"update tracker.issues i set board_id = (select b.id from tracker.boards b where b.id <> i.board_id) where i.number = $1",
					"insert into tracker.memberships select b.tenant_id, gen_random_uuid() from tracker.boards b where b.prefix = 'SHIP' and $1 > 0",
					"delete from tracker.memberships where $1 > 0",
					"do 'begin insert into tracker.issue_comments (issue_id, body) select id, $$And again.$$ from tracker.issues where number = $1; update tracker.issues set edited_at = now() where number = $1; end'",
					"delete from tracker.issue_comments where issue_id = (select id from tracker.issues where number = $1)",
					"delete from tracker.issues where number = $1",
					"insert into tracker.issues (board_id, number, state, title) select b.id, 1000 + $1, 'New', 'New' from tracker.boards b where b.prefix = 'PAY' on conflict do nothing",
				}[random.IntN(11)]
				if n%5 == 0 && writer == 0 {
					sql = "update tracker.boards set deleted_at = case when deleted_at is null then now() end where prefix = 'SHIP'"
				}
				if _, err := conn.PgConn().Exec(t.Context(), strings.ReplaceAll(sql, "$1", strconv.Itoa(number))).ReadAll(); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		}()
	}
	if _, err := owner.PgConn().Exec(t.Context(), "call mirror.backfill(10)").ReadAll(); err != nil {
		t.Errorf("backfill: %v", err)
	}
	writers.Wait()
	for what, sql := range map[string]string{
		"issues": `select count(*) from mirror.tickets l full join public.tickets t
			on (l.ticket_id, l.key, l.project_id, l.name) = (t.ticket_id, t.key, t.project_id, t.name)
			where l.ticket_id is null or t.ticket_id is null`,
		"comments": `select count(*) from mirror.comments l full join public.comments t
			on (l.comment_id, l.ticket_id, l.body) = (t.comment_id, t.ticket_id, t.body)
			where l.comment_id is null or t.comment_id is null`,
		"members": `select count(*) from mirror.members l full join public.project_members t
			on (l.project_id, l.user_id) = (t.project_id, t.user_id) where l.user_id is null or t.user_id is null`,
	} {
		var differ int
		if err := owner.QueryRow(t.Context(), sql).Scan(&differ); err != nil || differ > 0 {
			t.Errorf("%s that differ: %d %v", what, differ, err)
		}
	}
	var tickets int
	if err := owner.QueryRow(t.Context(), "select count(*) from public.tickets").Scan(&tickets); err != nil || tickets == 0 {
		t.Errorf("%d tickets: %v", tickets, err)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	const step, end = "```sql step\n", "\n```\n"
	const shown = "```text output\n"
	query := func(_ context.Context, sql string) (string, error) {
		if strings.Contains(sql, "bad") {
			return "", context.Canceled
		}
		return strings.TrimPrefix(sql, "select "), nil
	}
	for name, c := range map[string]struct{ text, wrong string }{
		"holds":          {step + "select 1" + end + shown + " 1" + end, ""},
		"another output": {step + "select 1" + end + shown + " 2" + end, `a.md:1: select 1: the line "2" was not printed`},
		"fails":          {step + "bad" + end + step + "select 1" + end, "a.md:1: bad: context canceled"},
		"no step":        {"```sql run\nselect 1" + end, "no steps found"},
	} {
		var out strings.Builder
		err := Steps(t.Context(), "a.md", c.text, query, &out)
		if err != nil {
			out.WriteString(err.Error())
		}
		if c.wrong == "" && err != nil || !strings.Contains(out.String(), c.wrong) || c.wrong != "" && err == nil {
			t.Errorf("%s: %v: %s", name, err, out.String())
		}
	}
}
