package supabase_test

import (
	"os/exec"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// What apply and the other tools make of each other's databases is in scripts/check-migrations.
func TestApplyRefusesOtherDatabases(t *testing.T) {
	t.Parallel()
	database := testbed.Database(t)
	owner := testbed.Connect(t, database.OwnerURL)
	for _, c := range []struct{ change, want string }{
		{"", "no migration is missing"},
		{"drop schema supabase_migrations cascade", "no migration is missing"}, // as after psql -f
		{"insert into supabase_migrations.schema_migrations (version) values ('20990101000000')", "the database has other migrations: 20990101000000"},
		{"update supabase_migrations.schema_migrations set version = '20200101000000' where version = '20990101000000'", "other migrations: 20200101000000"},
		{"insert into private.migrations (version) values ('20200101000000')", "made before tasklens 0.1.0 and cannot be upgraded"},
	} {
		if _, err := owner.Exec(t.Context(), c.change); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "./apply", database.OwnerURL).CombinedOutput()
		if refused := c.want != "no migration is missing"; !strings.Contains(string(out), c.want) || strings.Contains(string(out), "applying") || (err != nil) != refused {
			t.Errorf("%s: %v, %s", c.change, err, out)
		}
	}
}
