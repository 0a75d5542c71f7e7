package testbed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"tasklens/supabase"
)

// templatePrefix starts the name of every template, which ends with a checksum of its sources.
const templatePrefix = "tasklens_template_"

func (b *bench) makePlatform() (string, error) {
	sql, err := platformSQL()
	if err != nil {
		return "", err
	}
	return b.template("platform_"+checksum(sql), "template template0 encoding 'UTF8'", func(ctx context.Context, database string) error {
		return b.within(ctx, b.url(database, ""), func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, string(sql))
			return err
		})
	})
}

func (b *bench) makeMigrated() (string, error) {
	from, err := b.platform()
	if err != nil {
		return "", err
	}
	migrations := supabase.Migrations()
	if Schema() != "public" {
		folder, err := os.MkdirTemp("", "tasklens")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder)
		root, err := checkout()
		if err != nil {
			return "", err
		}
		if out, err := exec.Command(filepath.Join(root, "supabase", "apply"), "--schema", Schema(), "--render", folder).CombinedOutput(); err != nil {
			return "", fmt.Errorf("render the migrations: %w: %s", err, out)
		}
		migrations = os.DirFS(folder)
	}
	sum, err := checksumFiles(migrations)
	if err != nil {
		return "", err
	}
	return b.template("migrated_"+checksum([]byte(from+sum)), "template "+quote(from)+" owner postgres", func(ctx context.Context, database string) error {
		return b.within(ctx, b.url(database, "postgres"), func(conn *pgx.Conn) error {
			_, err := Migrate(ctx, conn, migrations)
			return err
		})
	})
}

// Schema is where the tables and functions for callers are in the databases of tests:
// TASKLENS_TEST_SCHEMA, or public.
func Schema() string { return cmp.Or(os.Getenv("TASKLENS_TEST_SCHEMA"), "public") }

// template returns the template with this name, and creates it with these options and fill if it
// does not exist. It is created under another name and renamed when complete, so that an incomplete
// one is never cloned.
func (b *bench) template(name, options string, fill func(ctx context.Context, database string) error) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name = templatePrefix + name
	err := b.alone(ctx, func(tx pgx.Tx) error {
		if err := b.mark(ctx, name); err != nil { // before another process can drop it
			return err
		}
		var exists bool
		err := tx.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists)
		if err != nil || exists {
			return err
		}
		if err := b.sweep(ctx, tx); err != nil {
			return err
		}
		draft := b.token + "_draft"
		defer func() { _ = b.exec("drop database if exists " + quote(draft) + " with (force)") }()
		if err := b.exec("create database " + quote(draft) + " " + options); err != nil {
			return err
		}
		if err := fill(ctx, draft); err != nil {
			return err
		}
		// Any open connection to a template makes cloning fail.
		if err := b.exec("alter database " + quote(draft) + " allow_connections false"); err != nil {
			return err
		}
		return b.exec("alter database " + quote(draft) + " rename to " + quote(name))
	})
	return name, err
}

// alone runs do while no other process creates or sweeps templates.
func (b *bench) alone(ctx context.Context, do func(pgx.Tx) error) error {
	return b.maintenance(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended($1, 0))", templatePrefix); err != nil {
				return fmt.Errorf("wait for other tests: %w", err)
			}
			return do(tx)
		})
	})
}

// sweep drops unused templates and the databases that dead processes left behind.
func (b *bench) sweep(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `
		select datname from pg_database
		where starts_with(datname, $1) or starts_with(datname, $2)`, templatePrefix, tokenPrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list test databases: %w", err)
	}
	for _, name := range names {
		owner := name
		if strings.HasPrefix(name, tokenPrefix) && len(name) > len(b.token) {
			owner = name[:len(b.token)]
		}
		var free bool // until the transaction ends
		err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock(hashtextextended($1, 0))", owner).Scan(&free)
		if err != nil {
			return fmt.Errorf("look for users of %s: %w", name, err)
		}
		if !free {
			continue
		}
		if err := b.exec("drop database if exists " + quote(name) + " with (force)"); err != nil {
			return fmt.Errorf("drop left-over database: %w", err)
		}
	}
	return nil
}

func (b *bench) within(ctx context.Context, databaseURL string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(ctx))
}

func platformSQL() ([]byte, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, "scripts", "platform.sql"))
}

// checkout finds the checkout from the folder of the package under test.
func checkout() (root string, err error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("no go.mod in the folders above the test")
		}
		folder = filepath.Dir(folder)
	}
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

func checksumFiles(folder fs.FS) (string, error) {
	var all []byte
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		all = append(all, path+"\x00"+checksum(content)+"\n"...)
		return err
	})
	return checksum(all), err
}
