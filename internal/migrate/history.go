package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

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

// entry is a migration as the database remembers it.
type entry struct {
	version    string
	statements []string // nil where whoever applied it recorded none
}

// recorded returns what the database has applied, in order; nothing where the table does not exist yet.
func recorded(ctx context.Context, db querier) ([]entry, error) {
	// collate "C" is the order of the file names. Older tables have no column for the statements, and JSON asks for none.
	rows, _ := db.Query(ctx,
		`select m.version, to_jsonb(m) -> 'statements' from supabase_migrations.schema_migrations m order by m.version collate "C"`)
	history, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e entry, err error) {
		err = row.Scan(&e.version, &e.statements)
		return e, err
	})
	if code := new(pgconn.PgError); errors.As(err, &code) && code.Code == undefinedTable {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return history, nil
}

// is tells whether what was applied is what the file says now. Only a semicolon and the white space around it may
// differ, because another version of the Supabase CLI may have cut the same text elsewhere.
func (e entry) is(m Migration) bool {
	return e.statements == nil || seamless(e.statements) == seamless(m.texts())
}

var seam = regexp.MustCompile(`\s*;[\s;]*`)

func seamless(statements []string) string {
	return strings.Trim(seam.ReplaceAllString(strings.Join(statements, ";"), ";"), "; \t\r\n")
}

func record(ctx context.Context, tx pgx.Tx, m Migration) error {
	_, err := tx.Exec(ctx,
		"insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)",
		m.Version, m.Name, m.texts())
	if err != nil {
		return fmt.Errorf("record migration %s: %w", m.File, err)
	}
	return nil
}

// querier is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}
