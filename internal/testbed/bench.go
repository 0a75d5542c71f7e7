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

// bench is what the tests of one process share: the way to the cluster, and the marks that say what is in use.
//
// Many test processes work on one cluster at a time. A name of a template, and the token that begins the names of a
// process's databases, is in use as long as somebody holds an advisory lock on it, shared, in the maintenance database.
// Postgres lets go of it when the process ends, however it ends; so a later process finds what was left behind.
type bench struct {
	cluster *url.URL       // TEST_DATABASE_URL
	idle    chan *pgx.Conn // connections to it that nobody uses at the moment
	token   string

	mu    sync.Mutex
	marks *pgx.Conn // holds the advisory locks

	platform func() (string, error) // name of the template with the platform
	migrated func() (string, error) // name of the template with the migrations too
}

// tokenPrefix begins the name of every database that belongs to one test.
const tokenPrefix = "tasklens_test_"

var open = sync.OnceValues(func() (*bench, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	raw := os.Getenv("TEST_DATABASE_URL")
	if raw == "" {
		return nil, errors.New(`these tests want a Postgres of their own: run ./scripts/test, or start one and name it: ` +
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

// maintenance lends do a connection to the maintenance database. Signing in takes longer than most of what is done
// there, so a few connections are kept.
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

// mark says that a name is in use until this process ends.
func (b *bench) mark(ctx context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.marks.Exec(ctx, "select pg_advisory_lock_shared(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("mark %s as in use: %w", name, err)
	}
	return nil
}
