package testbed

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestSweepDropsUnusedDatabases(t *testing.T) {
	t.Parallel()
	inUse := Empty(t).Name
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	template, err := b.platform()
	if err != nil {
		t.Fatal(err)
	}
	// Like databases left behind by a killed process.
	abandoned := tokenPrefix + "0" + b.token[len(tokenPrefix)+1:]
	leftOver := []string{abandoned + "_1", abandoned + "_draft", templatePrefix + "of_" + b.token[len(tokenPrefix):]}
	for _, name := range leftOver {
		if err := b.exec("create database " + quote(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.exec("alter database " + quote(leftOver[2]) + " allow_connections false"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.alone(ctx, func(tx pgx.Tx) error { return b.sweep(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(leftOver, inUse, template) {
		want := name == inUse || name == template
		var exists bool
		err := b.maintenance(ctx, func(conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists)
		})
		if err != nil || exists != want {
			t.Errorf("database %s exists: %v, want %v (%v)", name, exists, want, err)
		}
	}
}
