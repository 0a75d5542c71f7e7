// Package testbed gives each test a Postgres database, cloned in about 40 ms from a template with
// the platform (scripts/platform.sql) and all migrations. Tests share no rows, and can run in any
// order and in parallel.
//
// It creates and removes templates and clones, independently of what tests do with them. Only tests
// import it.
package testbed

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience limits each step. Creating the templates takes longest.
const patience = 10 * time.Minute

// DB is a database that lives as long as its test. Its URLs differ only in the role.
type DB struct {
	Name             string
	SuperuserURL     string // bypasses grants and policies: for inspection, not for testing access
	OwnerURL         string // postgres, which runs migrations and owns their objects; row-level security does not apply to it
	AuthenticatorURL string // PostgREST's role, which can become anon, authenticated or service_role
	// Served, if set before REST, gets the number of rows of each result of our gateway.
	Served func(function string, rows int64)
}

// Database returns a fresh database with the platform and all migrations. It is dropped when the
// test ends.
func Database(t testing.TB) *DB {
	t.Helper()
	return clone(t, func(b *bench) (string, error) { return b.migrated() })
}

// Empty returns a fresh database with only the platform, like a new Supabase project. It is dropped
// when the test ends.
func Empty(t testing.TB) *DB {
	t.Helper()
	return clone(t, func(b *bench) (string, error) { return b.platform() })
}

// Connect opens a connection to one of a DB's URLs and closes it when the test ends.
func Connect(t testing.TB, databaseURL string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatalf("connect to test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = conn.Close(ctx) // the database is dropped next anyway
	})
	return conn
}

var clones atomic.Int64

func clone(t testing.TB, template func(*bench) (string, error)) *DB {
	t.Helper()
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	from, err := template(b)
	if err != nil {
		t.Fatalf("make template database: %v", err)
	}
	name := fmt.Sprintf("%s_%d", b.token, clones.Add(1))
	// The other strategy, file_copy, waits for two checkpoints of the whole cluster, which takes
	// ten times as long under parallel tests.
	err = b.exec("create database " + quote(name) + " template " + quote(from) + " owner postgres strategy wal_log")
	if err != nil {
		t.Fatalf("clone template database: %v", err)
	}
	t.Cleanup(func() {
		if err := b.exec("drop database " + quote(name) + " with (force)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return &DB{
		Name:             name,
		SuperuserURL:     b.url(name, ""),
		OwnerURL:         b.url(name, "postgres"),
		AuthenticatorURL: b.url(name, "authenticator"),
	}
}

// url is the cluster's URL with another database and, unless empty, another role. All roles have
// the same password.
func (b *bench) url(database, role string) string {
	u := *b.cluster
	u.Path = "/" + database
	if password, has := u.User.Password(); role != "" && has {
		u.User = url.UserPassword(role, password)
	} else if role != "" {
		u.User = url.User(role)
	}
	if Schema() != "public" { // as Supabase has it for public
		q := u.Query()
		q.Set("search_path", Schema()+",extensions")
		u.RawQuery = q.Encode()
	}
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
