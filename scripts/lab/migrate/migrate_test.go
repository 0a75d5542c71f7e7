package migrate_test

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/migrate"
	"tasklens/supabase"
)

func folder(files ...string) fs.FS {
	out := fstest.MapFS{"README.md": {Data: []byte("not SQL")}}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

const (
	first  = "20261127000001_first.sql"
	second = "20261127000002_second.sql"
	third  = "20261127000003_third.sql"
)

type row struct {
	Version, Name string
	Statements    []string
}

func history(t *testing.T, conn *pgx.Conn) []row {
	t.Helper()
	rows, _ := conn.Query(t.Context(), "select version, name, statements from supabase_migrations.schema_migrations order by 1")
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func apply(t *testing.T, conn *pgx.Conn, folder fs.FS, want int) {
	t.Helper()
	if applied, err := migrate.Apply(t.Context(), conn, folder, nil); err != nil || applied != want {
		t.Fatalf("applied %d, want %d: %v", applied, want, err)
	}
}

func TestApplyRecordsAndGoesOn(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	const a, b = "-- a\ncreate table public.a (id int);\ninsert into public.a values (1);", "alter table public.a add b int;"
	apply(t, conn, folder(first, a), 1)
	all := folder(first, a, second, "", third, b)
	var reported []string
	applied, err := migrate.Apply(t.Context(), conn, all, func(file string) { reported = append(reported, file) })
	if diff := cmp.Diff([]string{second, third}, reported); err != nil || applied != 2 || diff != "" {
		t.Errorf("applied %d, %v %s", applied, err, diff)
	}
	apply(t, conn, all, 0)
	want := []row{{"20261127000001", "first", []string{a}}, {"20261127000002", "second", []string{""}}, {"20261127000003", "third", []string{b}}}
	if diff := cmp.Diff(want, history(t, conn)); diff != "" {
		t.Errorf("recorded: %s", diff)
	}
}

func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	bad := "create table public.b (id int);\n\n-- wrong\ninsert into public.b\n  values (1, nowhere);\n"
	applied, err := migrate.Apply(t.Context(), conn, folder(first, "create table public.a ();", second, bad), nil)
	if pg := new(pgconn.PgError); applied != 1 || !errors.As(err, &pg) || pg.Code != "42703" {
		t.Fatalf("applied %d, %v; want 1 and an unknown column", applied, err)
	}
	if want := second + ", line 5"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	if got := history(t, conn); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
	apply(t, conn, folder(first, "create table public.a ();", second, "create table public.b ();"), 1)
}

func TestMigrationMayNotEndItsTransaction(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	_, err := migrate.Apply(t.Context(), conn, folder(first, "select 1;\ncommit;"), nil)
	if err == nil || !strings.Contains(err.Error(), first+": a migration is one transaction already") {
		t.Errorf("got %v", err)
	}
}

func TestOtherHistoryIsRefused(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	apply(t, conn, folder(second, "create table public.a ();"), 1)
	for name, c := range map[string]struct {
		folder fs.FS
		want   string
	}{
		"file is gone":   {folder(first, "", third, ""), "20261127000002, which is not in the folder"},
		"before release": {folder(third, ""), "made before tasklens 0.1.0 and cannot be upgraded"},
		"folder empty":   {folder(), "20261127000002, which is not in the folder"},
		"older arrives":  {folder(first, "", second, ""), first + ", which is older than its 20261127000002"},
		"file is edited": {folder(second, "create table public.a (id int);", third, ""), second + " has changed since it was applied"},
		"one more":       {folder(second, "create table public.a (); select 1;"), second + " has changed since it was applied"},
		"emptied":        {folder(second, ""), second + " has changed since it was applied"},
	} {
		if _, err := migrate.Apply(t.Context(), conn, c.folder, nil); !errors.Is(err, migrate.ErrHistory) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Apply says %v", name, err)
		}
	}
	if got := history(t, conn); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
}

// A migration that another tool recorded is the same one if its text is.
func TestHistoryOfOthersIsTaken(t *testing.T) {
	t.Parallel()
	file := folder(first, "create table public.a ();\n\n-- two in one\ncreate rule r as on insert to public.a do also (select 1; (select 2));\n")
	for name, c := range map[string]struct{ change, statements string }{
		"cut elsewhere":  {"", `array['create table public.a ()', E'-- two in one\ncreate rule r as on insert to public.a do also (select 1', '(select 2))']`},
		"with semicolon": {"", `array['create table public.a ();', E'-- two in one\ncreate rule r as on insert to public.a do also (select 1; (select 2));']`},
		"none recorded":  {"", "null"},
		"no column":      {"alter table supabase_migrations.schema_migrations drop column statements", ""},
	} {
		conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
		apply(t, conn, file, 1)
		change := c.change
		if change == "" {
			change = "update supabase_migrations.schema_migrations set statements = " + c.statements
		}
		if _, err := conn.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if applied, err := migrate.Apply(t.Context(), conn, file, nil); applied != 0 || err != nil {
			t.Errorf("%s: applied %d, %v", name, applied, err)
		}
	}
}

func TestTwoAtOnceTakeTurns(t *testing.T) {
	t.Parallel()
	db := testbed.Empty(t)
	files := folder(
		first, "select pg_sleep(0.05); create table public.a (id int);",
		second, "select pg_sleep(0.05); insert into public.a values (1);",
		third, "select pg_sleep(0.05); insert into public.a values (2);",
	)
	const most = 5
	var total atomic.Int64
	var all sync.WaitGroup
	conns := make([]*pgx.Conn, most)
	for i := range conns {
		conns[i] = testbed.Connect(t, db.OwnerURL)
	}
	for _, conn := range conns {
		all.Go(func() {
			applied, err := migrate.Apply(t.Context(), conn, files, nil)
			if err != nil {
				t.Error(err)
			}
			total.Add(int64(applied))
		})
	}
	all.Wait()
	conn := testbed.Connect(t, db.OwnerURL)
	var rows int
	if err := conn.QueryRow(t.Context(), "select count(*) from public.a").Scan(&rows); err != nil || rows != 2 || total.Load() != 3 {
		t.Errorf("%d rows and %d applied, want 2 and 3 (%v)", rows, total.Load(), err)
	}
}

func TestProjectsOwnMigrations(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Database(t).OwnerURL)
	apply(t, conn, supabase.Migrations(), 0)
	migrations, err := supabase.List(supabase.Migrations())
	if got := history(t, conn); err != nil || len(got) == 0 || len(got) != len(migrations) {
		t.Errorf("%d recorded of %d (%v)", len(got), len(migrations), err)
	}
}
