// Package supabase carries the database part of the project into Go: the migrations, as they lie in
// this folder. The service compares them with what a database has applied, and the tests build
// their databases from them.
package supabase

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the folder migrations/: files named <version>_<name>.sql, applied in the order of
// their names.
func Migrations() fs.FS {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is part of the binary: this cannot fail
	}
	return migrations
}

// Migration is one file of such a folder.
type Migration struct {
	File    string // 20261127000100_extensions.sql
	Version string // 20261127000100
	Name    string // extensions
}

var fileName = regexp.MustCompile(`^([0-9]{14})_(.+)\.sql$`)

// List returns the migrations of a folder in the order in which they are applied, which is that of
// their file names. Files that are no SQL are left alone; SQL under a name without a version would
// be left behind, so it is an error.
func List(folder fs.FS) ([]Migration, error) {
	names, err := fs.Glob(folder, "*.sql") // sorted
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	migrations := make([]Migration, 0, len(names))
	for i, name := range names {
		parts := fileName.FindStringSubmatch(name)
		if parts == nil {
			return nil, fmt.Errorf("migration %s: its name must be <14 digits>_<name>.sql", name)
		}
		if i > 0 && migrations[i-1].Version == parts[1] {
			return nil, fmt.Errorf("migration %s: %s has the same version", name, migrations[i-1].File)
		}
		migrations = append(migrations, Migration{File: name, Version: parts[1], Name: parts[2]})
	}
	return migrations, nil
}

// Compare returns which of the known migrations a database lacks, and which versions that are
// applied are not known.
func Compare(known []Migration, applied []string) (missing []Migration, unknown []string) {
	isApplied := func(m Migration) bool { return slices.Contains(applied, m.Version) }
	isKnown := func(version string) bool {
		return slices.ContainsFunc(known, func(m Migration) bool { return m.Version == version })
	}
	return slices.DeleteFunc(slices.Clone(known), isApplied), slices.DeleteFunc(slices.Clone(applied), isKnown)
}

// ErrUnreleased is what every tool says of a database with a version older than the first known
// migration: before the first release the migrations had other versions and other texts.
var ErrUnreleased = errors.New("the database was made before tasklens 0.1.0 and cannot be upgraded: make a new one and import again (docs/upgrade.md)")

// CheckReleased returns ErrUnreleased for a database of that kind.
func CheckReleased(known []Migration, applied []string) error {
	if len(known) > 0 && slices.ContainsFunc(applied, func(version string) bool { return version < known[0].Version }) {
		return ErrUnreleased
	}
	return nil
}
