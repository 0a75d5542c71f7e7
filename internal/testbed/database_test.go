package testbed_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/testbed"
)

func TestRolesOfURLs(t *testing.T) {
	t.Parallel()
	db := testbed.Database(t)
	for role, url := range map[string]string{
		"supabase_admin": db.SuperuserURL, "postgres": db.OwnerURL, "authenticator": db.AuthenticatorURL,
	} {
		var got, name string
		err := testbed.Connect(t, url).QueryRow(t.Context(), "select current_user, current_database()").Scan(&got, &name)
		if err != nil || got != role || name != db.Name {
			t.Errorf("connected as %s to the database %s, want %s and %s: %v", got, name, role, db.Name, err)
		}
	}
}

func TestDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	for range 2 {
		db := testbed.Empty(t)
		// The second would fail in the first one's database, or in a clone of it.
		if _, err := testbed.Connect(t, db.OwnerURL).Exec(t.Context(), "create table public.mine (id int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestOnlyDatabaseIsMigrated(t *testing.T) {
	t.Parallel()
	const migrated = "select to_regclass('supabase_migrations.schema_migrations') is not null"
	for want, db := range map[bool]*testbed.DB{true: testbed.Database(t), false: testbed.Empty(t)} {
		var got bool
		if err := testbed.Connect(t, db.OwnerURL).QueryRow(t.Context(), migrated).Scan(&got); err != nil || got != want {
			t.Errorf("the database is migrated: %v, want %v (%v)", got, want, err)
		}
	}
}

func TestDatabaseWithOpenConnectionsIsDropped(t *testing.T) {
	t.Parallel()
	var name string
	var forgotten *pgx.Conn
	t.Run("user", func(t *testing.T) {
		db := testbed.Empty(t)
		name = db.Name
		var err error
		if forgotten, err = pgx.Connect(t.Context(), db.OwnerURL); err != nil {
			t.Fatal(err)
		}
	})
	defer forgotten.Close(context.Background())
	var exists bool
	err := testbed.Connect(t, testbed.Empty(t).SuperuserURL).
		QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		t.Errorf("database %s still exists: %v (%v)", name, exists, err)
	}
}
