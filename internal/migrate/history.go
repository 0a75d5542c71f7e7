package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The table of what has been applied is the Supabase CLI's (3.1.0), made by the same statements in the same order, so
// that either may go on where the other stopped, and a dump shows no difference.
var historyTable = []string{
	"create schema if not exists supabase_migrations",
	"create table if not exists supabase_migrations.schema_migrations (version text not null primary key)",
	"alter table supabase_migrations.schema_migrations add column if not exists statements text[]",
	"alter table supabase_migrations.schema_migrations add column if not exists name text",
}

const undefinedTable = "42P01"

// recorded returns the versions that the database has applied, in order; none where the table does not exist yet.
func recorded(ctx context.Context, db querier) ([]string, error) {
	// collate "C" is the order of the file names.
	rows, _ := db.Query(ctx, `select version from supabase_migrations.schema_migrations order by version collate "C"`)
	versions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if code := new(pgconn.PgError); errors.As(err, &code) && code.Code == undefinedTable {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return versions, nil
}

func record(ctx context.Context, tx pgx.Tx, m Migration) error {
	statements := make([]string, len(m.Statements))
	for i, s := range m.Statements {
		statements[i] = s.Text
	}
	_, err := tx.Exec(ctx,
		"insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)",
		m.Version, m.Name, statements)
	if err != nil {
		return fmt.Errorf("record migration %s: %w", m.File, err)
	}
	return nil
}

// querier is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}
