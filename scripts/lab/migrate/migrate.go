// Package migrate applies supabase/migrations where the Supabase CLI has no stack to do it. A file
// is one call and one transaction, recorded in the CLI's own table, so that `supabase migration up`
// and this package can alternate on one database. It runs as a plain owner, not a superuser.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tasklens/supabase"
)

// lockKey is the advisory lock of a running migration. The number is arbitrary.
const lockKey = 0x7461736b6c656e73 // "tasklens"

// ErrHistory is wrapped by errors about a database whose migrations differ from the folder's.
var ErrHistory = errors.New("the database has other migrations")

// The same statements as in the Supabase CLI (3.1.0).
const historyTable = `
	create schema if not exists supabase_migrations;
	create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
	alter table supabase_migrations.schema_migrations add column if not exists statements text[];
	alter table supabase_migrations.schema_migrations add column if not exists name text`

// Apply applies the missing migrations of folder and returns how many it applied. Before each it
// calls report, unless nil, with the file name. Concurrent calls wait for each other.
//
// It returns ErrHistory if the database has a version that the folder lacks, lacks one older than
// its newest, or got a different text than the file has now. The error of a failing file names the
// line and wraps the *pgconn.PgError; earlier migrations stay applied.
func Apply(ctx context.Context, conn *pgx.Conn, folder fs.FS, report func(file string)) (applied int, err error) {
	migrations, err := supabase.List(folder)
	if err != nil {
		return 0, err
	}
	for {
		done, err := applyNext(ctx, conn, folder, migrations, report)
		if err != nil {
			return applied, fmt.Errorf("apply migrations: %w", err)
		}
		if done {
			return applied, nil
		}
		applied++
	}
}

// applyNext applies the first missing migration in a transaction that holds the lock; done if there
// is none. The lock is transactional, so that a connection pooler can't leak it.
func applyNext(ctx context.Context, conn *pgx.Conn, folder fs.FS, migrations []supabase.Migration, report func(string)) (done bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local lock_timeout = '1min'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return fmt.Errorf("wait for other migrations: %w", err)
		}
		if _, err := tx.Exec(ctx, historyTable+"; set local lock_timeout to default"); err != nil {
			return fmt.Errorf("create table of applied migrations: %w", err)
		}
		next, err := missing(ctx, tx, folder, migrations)
		if err != nil || len(next) == 0 {
			done = err == nil
			return err
		}
		if report != nil {
			report(next[0].File)
		}
		return run(ctx, tx, folder, next[0])
	})
	return done, err
}

// missing returns the migrations that the database lacks.
func missing(ctx context.Context, tx pgx.Tx, folder fs.FS, migrations []supabase.Migration) ([]supabase.Migration, error) {
	type entry struct {
		Version    string
		Statements []string // nil if none were recorded
	}
	// collate "C" matches the order of the file names.
	rows, _ := tx.Query(ctx, `select version, statements from supabase_migrations.schema_migrations order by version collate "C"`)
	history, err := pgx.CollectRows(rows, pgx.RowToStructByPos[entry])
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	for i, e := range history {
		if i >= len(migrations) || migrations[i].Version != e.Version {
			if slices.ContainsFunc(migrations, func(m supabase.Migration) bool { return m.Version == e.Version }) {
				return nil, fmt.Errorf("%w: it lacks %s, which is older than its %s", ErrHistory, migrations[i].File, e.Version)
			}
			if err := supabase.CheckReleased(migrations, []string{e.Version}); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrHistory, err)
			}
			return nil, fmt.Errorf("%w: it has %s, which is not in the folder", ErrHistory, e.Version)
		}
		text, err := fs.ReadFile(folder, migrations[i].File)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		if e.Statements != nil && seamless(strings.Join(e.Statements, ";")) != seamless(string(text)) {
			return nil, fmt.Errorf("%w: %s has changed since it was applied", ErrHistory, migrations[i].File)
		}
	}
	return migrations[len(history):], nil
}

var seam = regexp.MustCompile(`\s*;[\s;]*`)

// seamless strips what is lost when a tool splits SQL into statements. The Supabase CLI records
// them without semicolons.
func seamless(sql string) string { return strings.Trim(seam.ReplaceAllString(sql, ";"), "; \t\r\n") }

func run(ctx context.Context, tx pgx.Tx, folder fs.FS, m supabase.Migration) error {
	text, err := fs.ReadFile(folder, m.File)
	if err != nil {
		return fmt.Errorf("read migration: %w", err)
	}
	// Without arguments pgx uses the simple protocol, which accepts several statements.
	if _, err := tx.Exec(ctx, string(text)); err != nil {
		return fmt.Errorf("%s%s: %w", m.File, line(string(text), err), err)
	}
	if tx.Conn().PgConn().TxStatus() != 'T' {
		return fmt.Errorf("%s: a migration is one transaction already and can't end it", m.File)
	}
	_, err = tx.Exec(ctx, "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)",
		m.Version, m.Name, []string{string(text)})
	if err != nil {
		return fmt.Errorf("record migration %s: %w", m.File, err)
	}
	return nil
}

// line returns the line of an error, if Postgres reports a position.
func line(sql string, err error) string {
	var failed *pgconn.PgError
	if !errors.As(err, &failed) || failed.Position == 0 {
		return ""
	}
	before := []rune(sql)[:min(int(failed.Position)-1, len([]rune(sql)))]
	return fmt.Sprintf(", line %d", 1+strings.Count(string(before), "\n"))
}
