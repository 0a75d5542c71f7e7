package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"tasklens/internal/testbed"
	"tasklens/supabase"
)

// After migrations by another tool, migrate explains what to do.
func TestMigrateAfterAnotherTool(t *testing.T) {
	db := testbed.Empty(t)
	text, err := fs.ReadFile(supabase.Migrations(), "20261127000100_extensions.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := testbed.Connect(t, db.OwnerURL).Exec(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DATABASE_URL", db.OwnerURL)
	if err := applyMigrations(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "supabase migration repair --remote --status applied") {
		t.Errorf("migrate says: %v", err)
	}
}

// Without DATABASE_URL a driver would use PGHOST's database or the local default.
func TestDatabaseMustBeNamed(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	for verb, run := range map[string]func(context.Context, []string) error{"migrate": applyMigrations, "gateway": serveGateway} {
		if err := run(t.Context(), nil); !errors.Is(err, errNoDatabase) {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
