package supabase_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/supabase"
)

// Each migration ends by recording itself, so that one that is left out is known, whatever applies
// the others.
func TestMigrationsRecordThemselves(t *testing.T) {
	t.Parallel()
	migrations, err := supabase.List(supabase.Migrations())
	if err != nil || len(migrations) == 0 {
		t.Fatalf("%d migrations: %v", len(migrations), err)
	}
	owner := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	var want []string
	for _, m := range migrations {
		text, err := fs.ReadFile(supabase.Migrations(), m.File)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Exec(t.Context(), string(text)); err != nil {
			t.Fatalf("%s: %v", m.File, err)
		}
		want = append(want, m.Version)
		record := "\ninsert into private.migrations (version) values ('" + m.Version + "');\n"
		rows, _ := owner.Query(t.Context(), "select public.list_migrations()")
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if diff := cmp.Diff(want, got); err != nil || diff != "" || !strings.HasSuffix(string(text), record) {
			t.Fatalf("%s must end with %q: %v %s", m.File, record, err, diff)
		}
	}
}

func TestListChecksNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"no version":    {[]string{"notes.sql"}, "notes.sql: its name must be"},
		"short version": {[]string{"42_notes.sql"}, "42_notes.sql: its name must be"},
		"same version":  {[]string{"20260101000001_a.sql", "20260101000001_b.sql"}, "20260101000001_a.sql has the same version"},
	} {
		folder := fstest.MapFS{}
		for _, file := range c.files {
			folder[file] = &fstest.MapFile{}
		}
		if _, err := supabase.List(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	listed, err := supabase.List(fstest.MapFS{"README.md": {}, "20260101000002_b.sql": {}, "20260101000001_a.sql": {}})
	want := []supabase.Migration{{File: "20260101000001_a.sql", Version: "20260101000001", Name: "a"}, {File: "20260101000002_b.sql", Version: "20260101000002", Name: "b"}}
	if diff := cmp.Diff(want, listed); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
