package api_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tasklens/internal/testbed"
)

// psql runs migration files as their owner, as a person in a terminal would.
func psql(t testing.TB, db *testbed.DB, arguments ...string) {
	t.Helper()
	// PGBIN is set by scripts/postgres; otherwise psql is on the PATH.
	program := "psql"
	if folder := os.Getenv("PGBIN"); folder != "" {
		program = filepath.Join(folder, program)
	}
	command := exec.CommandContext(t.Context(), program, append([]string{"-qX", "-v", "ON_ERROR_STOP=1", db.OwnerURL}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, output)
	}
}

// Whichever tool applies the migrations, the service becomes ready, and its cache works.
func TestMigrationsAppliedByOtherTools(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../supabase/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	for name, apply := range map[string]func(testing.TB, *testbed.DB){
		"psql, file by file": func(t testing.TB, db *testbed.DB) {
			for _, file := range files {
				psql(t, db, "-f", file)
			}
		},
		"psql, one transaction": func(t testing.TB, db *testbed.DB) {
			arguments := []string{"-1"}
			for _, file := range files {
				arguments = append(arguments, "-f", file)
			}
			psql(t, db, arguments...)
		},
		"an editor that sends each file whole": func(t testing.TB, db *testbed.DB) {
			connection := testbed.Connect(t, db.OwnerURL)
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := connection.Exec(t.Context(), string(text)); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(c *setup) {
				c.database = func(t testing.TB) *testbed.DB {
					db := testbed.Empty(t)
					apply(t, db)
					return db
				}
			})
			s.get("/readyz").want(http.StatusOK)
			run(t, s.connect(), "insert into public.projects (key, name) values ('PAY', 'Payments')")
			s.post("/api/hybrid-search", map[string]any{"query": "payments"}).from(madeAndKept)
			s.post("/api/hybrid-search", map[string]any{"query": "payments"}).from(fromMemory)
			run(t, s.connect(), "delete from tasklens.migrations where version = '20261127000700'")
			s.get("/readyz").want(http.StatusServiceUnavailable)
			s.post("/api/hybrid-search", map[string]any{"query": "payments"}).from(madeAndKept)
		})
	}
}
