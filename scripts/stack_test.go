package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

// A restarted demo still accepts the tokens of scripts/token, whose issuer is its address.
func TestRestartKeepsTheIssuer(t *testing.T) {
	t.Parallel()
	for name, postgrest := range map[string]string{"the gateway": "", "PostgREST": "/bin/true"} {
		local := t.TempDir()
		lab := filepath.Join(local, "bin", "lab")
		write(t, lab, "#!/bin/sh\n[ $1 = token ] || { echo http://127.0.0.1:$PORT; exec sleep 600; }\n")
		if err := os.Chmod(lab, 0o700); err != nil {
			t.Fatal(err)
		}
		// PostgREST itself is not started; only its gateway at Supabase's path is.
		start := `unset SUPABASE_URL SUPABASE_REST_URL; POSTGREST_BIN=` + postgrest + ` AUTHENTICATOR_URL=none
			mkdir -p "$run"; if [ -n "$POSTGREST_BIN" ]; then begin_rest() { :; }; fi
			PATH=/usr/bin:/bin start_rest; end gateway; echo $SUPABASE_URL`
		first := shell(t, local, start)
		if again := shell(t, local, start); again != first || first == "" {
			t.Errorf("with %s the addresses are %s and %s", name, first, again)
		}
	}
}

// A database is not used on if one of its migrations has another text by now.
func TestEditedMigrationsAreNamed(t *testing.T) {
	t.Parallel()
	database := testbed.Empty(t)
	owner := testbed.Connect(t, database.OwnerURL)
	refuse := `PATH=${PGBIN:+$PGBIN:}$PATH PGBIN=$(dirname "$(command -v psql)") OWNER_URL=` + "'" + database.OwnerURL + "'" + `; (refuse_edited) 2>&1 || true; echo end`
	if got := shell(t, t.TempDir(), refuse); got != "end" {
		t.Errorf("of an empty database it says %q", got)
	}
	shell(t, t.TempDir(), `PATH=${PGBIN:+$PGBIN:}$PATH ../supabase/apply '`+database.OwnerURL+`'`)
	if got := shell(t, t.TempDir(), refuse); got != "end" {
		t.Errorf("of one that is up to date it says %q", got)
	}
	var version string
	if err := owner.QueryRow(t.Context(), `update supabase_migrations.schema_migrations set statements = array['select 1']
		where version = (select max(version) from supabase_migrations.schema_migrations) returning version`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, t.TempDir(), refuse); !strings.Contains(got, "("+version+")") {
		t.Errorf("of an edited one it says %q", got)
	}
}

// The demo goes on in the schema that it was once installed into.
func TestDemoInASchemaOfItsOwn(t *testing.T) {
	t.Parallel()
	database := testbed.Empty(t)
	migrate := `PATH=${PGBIN:+$PGBIN:}$PATH PGBIN=$(dirname "$(command -v psql)") OWNER_URL=` + "'" + database.OwnerURL + "'" + `; (migrate && echo in $SUPABASE_SCHEMA) 2>&1 | tail -1 || true`
	for _, c := range [][2]string{{"schema=lens ", "in lens"}, {"", "in lens"}, {"schema=other ", "bash: the migrations cannot be applied"}, {"schema=lens ", "in lens"}} {
		if got := shell(t, t.TempDir(), c[0]+migrate); !strings.HasPrefix(got, c[1]) {
			t.Errorf("with %q it says %q", c[0], got)
		}
	}
	if _, err := testbed.Connect(t, database.OwnerURL).Exec(t.Context(), "select from lens.tickets"); err != nil {
		t.Error(err)
	}
}
