package testbed

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"tasklens/supabase"
)

// The same statements as in the Supabase CLI (3.1.0).
const historyTable = `
	create schema if not exists supabase_migrations;
	create table if not exists supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text)`

// Migrate applies the migrations of folder that a database lacks, each in a transaction, and
// returns how many it applied. Outside of tests supabase/apply and the Supabase CLI do this.
func Migrate(ctx context.Context, conn *pgx.Conn, folder fs.FS) (applied int, err error) {
	migrations, err := supabase.List(folder)
	if err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, historyTable); err != nil {
		return 0, fmt.Errorf("create table of applied migrations: %w", err)
	}
	for _, m := range migrations {
		text, err := fs.ReadFile(folder, m.File)
		if err != nil {
			return applied, err
		}
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			recorded, err := tx.Exec(ctx, `insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3) on conflict do nothing`,
				m.Version, m.Name, []string{string(text)})
			if err != nil || recorded.RowsAffected() == 0 {
				return err
			}
			applied++
			_, err = tx.Exec(ctx, string(text)) // without arguments, several statements
			return err
		})
		if err != nil {
			return max(0, applied-1), fmt.Errorf("%s: %w", m.File, err)
		}
	}
	return applied, nil
}
