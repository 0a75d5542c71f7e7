// Package migrate brings a database to the schema of supabase/migrations, and tells what is missing.
//
// It owns how a file is cut into statements and how what was applied is recorded: exactly as the Supabase CLI does it,
// so that `supabase migration up` and this package can take turns on one database. It needs a plain owner, no superuser.
// It must not know what the migrations say, nor where the folder or the connection come from.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockKey is the advisory lock of whoever applies migrations to a database; the number is arbitrary, and ours.
const lockKey = 0x7461736b6c656e73 // "tasklens"

// ErrHistory is what the errors of a database wrap whose migrations are others than the folder's. Their texts say which,
// and what to do.
var ErrHistory = errors.New("the database has another history")

// historyError keeps ErrHistory's own text out of what people read.
func historyError(format string, args ...any) error {
	return otherHistory(fmt.Sprintf(format, args...))
}

type otherHistory string

func (e otherHistory) Error() string        { return string(e) }
func (e otherHistory) Is(target error) bool { return target == ErrHistory }

// Pending returns the file names of the migrations in folder that the database lacks, in order. It is an error when
// they could not be applied in order: see Apply.
func Pending(ctx context.Context, db querier, folder fs.FS) ([]string, error) {
	migrations, err := Read(folder)
	if err != nil {
		return nil, err
	}
	missing, err := pending(ctx, db, migrations)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(missing))
	for i, m := range missing {
		files[i] = m.File
	}
	return files, nil
}

// Apply applies what is pending in folder, one transaction a migration, and returns how many it applied. Before each
// it calls report, if there is one, with the name of the file. Two at once take turns, and each migration is applied once.
//
// It refuses a database that has a version which the folder lacks, lacks one older than its newest, or was given other
// statements than the file has now: that is another history than the folder's (ErrHistory). The error of a failing statement names file, line and statement, and wraps the
// *pgconn.PgError; what was applied before it stays.
func Apply(ctx context.Context, conn *pgx.Conn, folder fs.FS, report func(file string)) (applied int, err error) {
	migrations, err := Read(folder)
	if err != nil {
		return 0, err
	}
	if _, err := pending(ctx, conn, migrations); err != nil { // before anything is changed
		return 0, err
	}
	err = locked(ctx, conn, func(tx pgx.Tx) error {
		for _, sql := range historyTable {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("create table of applied migrations: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for {
		done := true
		err := locked(ctx, conn, func(tx pgx.Tx) error {
			missing, err := pending(ctx, tx, migrations) // someone else may have applied some meanwhile
			if err != nil || len(missing) == 0 {
				return err
			}
			done = false
			if report != nil {
				report(missing[0].File)
			}
			return run(ctx, tx, missing[0])
		})
		if err != nil || done {
			return applied, err
		}
		applied++
	}
}

func pending(ctx context.Context, db querier, migrations []Migration) ([]Migration, error) {
	history, err := recorded(ctx, db)
	if err != nil {
		return nil, err
	}
	for i, e := range history {
		switch {
		case i < len(migrations) && migrations[i].Version == e.version && e.is(migrations[i]):
		case i < len(migrations) && migrations[i].Version == e.version:
			return nil, historyError("migration %s has changed since it was applied here: write a new migration instead", migrations[i].File)
		case slices.ContainsFunc(migrations, func(m Migration) bool { return m.Version == e.version }):
			return nil, historyError("migration %s is older than %s, which the database has already: give it a later version", migrations[i].File, e.version)
		default:
			return nil, historyError("the database has migration %s, which is not in the folder: use the folder that it came from", e.version)
		}
	}
	return migrations[len(history):], nil
}

// locked runs do in a transaction that holds the lock. The lock is the transaction's, not the session's, so that it
// also works through a connection pooler and can't be left behind.
func locked(ctx context.Context, conn *pgx.Conn, do func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local lock_timeout = '1min'"); err != nil {
			return fmt.Errorf("limit the wait for other migrations: %w", err)
		}
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return fmt.Errorf("wait for other migrations: %w", err)
		}
		if _, err := tx.Exec(ctx, "set local lock_timeout to default"); err != nil {
			return fmt.Errorf("reset lock timeout: %w", err)
		}
		return do(tx)
	})
	if err != nil {
		return fmt.Errorf("apply migrations: %w", err)
	}
	return nil
}

func run(ctx context.Context, tx pgx.Tx, m Migration) error {
	for _, s := range m.Statements {
		// Without arguments this is the simple protocol: nothing is prepared, so nothing can be stale after a change.
		if _, err := tx.Exec(ctx, s.Text); err != nil {
			return failure(m, s, err)
		}
		if tx.Conn().PgConn().TxStatus() != 'T' {
			return failure(m, s, errors.New("a migration is one transaction already and can't end it"))
		}
	}
	return record(ctx, tx, m)
}

// failure says where in the file a statement failed, and all that Postgres says about it.
func failure(m Migration, s Statement, err error) error {
	position, more := 0, ""
	if pg := new(pgconn.PgError); errors.As(err, &pg) {
		position = int(pg.Position)
		if pg.Detail != "" {
			more += "; detail: " + pg.Detail
		}
		if pg.Hint != "" {
			more += "; hint: " + pg.Hint
		}
	}
	return fmt.Errorf("%s, line %d, in %q: %w%s", m.File, s.lineAt(position), s.title(), err, more)
}
