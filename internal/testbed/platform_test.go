package testbed_test

import (
	"testing"

	"tasklens/internal/testbed"
)

// Tests of scripts/platform.sql: what a Supabase project provides for its migrations and users.

func TestOwnerMayCreateAndIsNoSuperuser(t *testing.T) {
	t.Parallel()
	conn := testbed.Connect(t, testbed.Empty(t).OwnerURL)
	for _, sql := range []string{
		"create table public.thing (id int)",
		"create extension if not exists vector with schema extensions",
		"create extension if not exists pg_trgm with schema extensions",
		"create extension if not exists unaccent with schema extensions",
		"create extension if not exists pgcrypto with schema extensions",
		"create schema another",
		"select '[1,2]'::vector", // extensions is in the owner's search path
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var super bool
	err := conn.QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").Scan(&super)
	if err != nil || super {
		t.Errorf("owner is a superuser: %v (%v)", super, err)
	}
}
