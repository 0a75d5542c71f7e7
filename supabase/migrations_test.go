package supabase_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
	"tasklens/supabase"
)

var update = flag.Bool("update", false, "add the new migrations to migrations.sha256")

// migrations.sha256 lists the released migrations, as sha256sum prints them. A database may have
// any of them, so none is edited, removed or preceded by a new one. Before the first release it is
// empty, and scripts/release refuses it until -update has filled it.
func TestReleasedMigrationsNeverChange(t *testing.T) {
	t.Parallel()
	released, err := os.ReadFile("migrations.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if listed, err := frozen(supabase.Migrations(), string(released)); err != nil {
		t.Fatal(err)
	} else if *update {
		if err := os.WriteFile("migrations.sha256", []byte(listed), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if len(released) == 0 {
		t.Skip("no migration is released: any may be edited")
	}
}

// frozen compares the folder with the list of the released ones, and returns the list of all.
func frozen(folder fs.FS, released string) (all string, err error) {
	migrations, err := supabase.List(folder)
	for _, m := range migrations {
		text, err := fs.ReadFile(folder, m.File)
		if err != nil {
			return "", err
		}
		all += fmt.Sprintf("%x  %s\n", sha256.Sum256(text), m.File)
	}
	rest := all
	for line := range strings.Lines(released) {
		after, is := strings.CutPrefix(rest, line)
		if !is {
			return "", fmt.Errorf("released migrations never change: add a file with a newer version (released: %s)", strings.TrimSpace(line))
		}
		rest = after
	}
	return all, err
}

func TestChangedMigrationsAreRefused(t *testing.T) {
	t.Parallel()
	folder := func(files ...string) fstest.MapFS {
		out := fstest.MapFS{}
		for _, file := range files {
			out[file] = &fstest.MapFile{Data: []byte("select 1")}
		}
		return out
	}
	const a, b, c = "20261127000001_a.sql", "20261127000002_b.sql", "20261127000003_c.sql"
	released, err := frozen(folder(a, c), "")
	if err != nil || strings.Count(released, "\n") != 2 {
		t.Fatalf("%q, %v", released, err)
	}
	edited := folder(a, c)
	edited[a].Data = []byte("select 2")
	for name, changed := range map[string]fstest.MapFS{"edited": edited, "removed": folder(a), "renamed": folder(a, b), "older": folder(a, b, c)} {
		if _, err := frozen(changed, released); err == nil || !strings.Contains(err.Error(), "released migrations never change: add a file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := frozen(folder(a, c, "20261127000004_d.sql"), released); err != nil || !strings.HasPrefix(all, released) || len(all) <= len(released) {
		t.Errorf("a new one: %q, %v", all, err)
	}
}

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
		record := "\ninsert into tasklens.migrations (version) values ('" + m.Version + "');\n"
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
		"same version":  {[]string{"20261127000001_a.sql", "20261127000001_b.sql"}, "20261127000001_a.sql has the same version"},
	} {
		folder := fstest.MapFS{}
		for _, file := range c.files {
			folder[file] = &fstest.MapFile{}
		}
		if _, err := supabase.List(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	listed, err := supabase.List(fstest.MapFS{"README.md": {}, "20261127000002_b.sql": {}, "20261127000001_a.sql": {}})
	want := []supabase.Migration{{File: "20261127000001_a.sql", Version: "20261127000001", Name: "a"}, {File: "20261127000002_b.sql", Version: "20261127000002", Name: "b"}}
	if diff := cmp.Diff(want, listed); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
