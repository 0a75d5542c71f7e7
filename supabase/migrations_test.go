package supabase_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/migrate"
	"tasklens/internal/testbed"
	"tasklens/supabase"
)

// Each migration ends by recording itself, so that one that is left out is known, whatever applies the others.
func TestMigrationsRecordThemselves(t *testing.T) {
	t.Parallel()
	migrations, err := migrate.Read(supabase.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	owner := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	var want []string
	for _, m := range migrations {
		for _, statement := range m.Statements {
			if _, err := owner.Exec(t.Context(), statement.Text); err != nil {
				t.Fatalf("%s: %v", m.File, err)
			}
		}
		want = append(want, m.Version)
		record := "insert into private.migrations (version) values ('" + m.Version + "')"
		rows, _ := owner.Query(t.Context(), "select public.list_migrations()")
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if diff := cmp.Diff(want, got); err != nil || diff != "" || m.Statements[len(m.Statements)-1].Text != record {
			t.Fatalf("%s must end with %q: %v %s", m.File, record, err, diff)
		}
	}
}
