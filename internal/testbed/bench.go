package testbed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"
)

// bench is shared by the tests of one process: connections to the cluster, and locks that mark
// databases as in use.
//
// Several test processes use one cluster concurrently. A template's name, or the token in the names
// of a process's databases, is in use while a session holds a shared advisory lock on it in the
// maintenance database. Postgres releases the lock however the process ends, so that a later
// process finds abandoned databases.
type bench struct {
	cluster *url.URL       // TEST_DATABASE_URL
	idle    chan *pgx.Conn // idle connections to it
	token   string

	mu    sync.Mutex
	marks *pgx.Conn // holds the advisory locks

	platform func() (string, error) // returns the name of the template with the platform
	migrated func() (string, error) // returns the name of the template with the platform and the migrations
}

// tokenPrefix starts the name of every database of a single test.
const tokenPrefix = "tasklens_test_"

var open = sync.OnceValues(func() (*bench, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	raw := os.Getenv("TEST_DATABASE_URL")
	if raw == "" {
		return nil, errors.New(`these tests need their own Postgres: run ./scripts/test, or start one and set TEST_DATABASE_URL: ` +
			`scripts/postgres start; eval "$(scripts/postgres env .local/postgres postgres)"; export TEST_DATABASE_URL=$SUPERUSER_URL`)
	}
	cluster, err := url.Parse(raw)
	if err != nil || cluster.Host == "" {
		return nil, errors.New("TEST_DATABASE_URL is not of the form postgres://superuser:password@host:port/database")
	}
	marks, err := pgx.Connect(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("connect to test cluster: %w", err)
	}
	b := &bench{cluster: cluster, idle: make(chan *pgx.Conn, 4), marks: marks, token: tokenPrefix + rand.Text()[:12]}
	b.platform = sync.OnceValues(b.makePlatform)
	b.migrated = sync.OnceValues(b.makeMigrated)
	if err := b.mark(ctx, b.token); err != nil {
		return nil, err
	}
	return b, nil
})

// maintenance runs do with a connection to the maintenance database. A few are kept open, because
// connecting takes longer than most statements there.
func (b *bench) maintenance(ctx context.Context, do func(*pgx.Conn) error) error {
	var conn *pgx.Conn
	select {
	case conn = <-b.idle:
	default:
		var err error
		if conn, err = pgx.ConnectConfig(ctx, b.marks.Config()); err != nil {
			return fmt.Errorf("connect to test cluster: %w", err)
		}
	}
	err := do(conn)
	if !conn.IsClosed() {
		select {
		case b.idle <- conn:
		default:
			_ = conn.Close(ctx)
		}
	}
	return err
}

// exec runs a statement in the maintenance database.
func (b *bench) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return b.maintenance(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

// mark marks a name as in use until this process ends.
func (b *bench) mark(ctx context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.marks.Exec(ctx, "select pg_advisory_lock_shared(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("mark %s as in use: %w", name, err)
	}
	return nil
}
