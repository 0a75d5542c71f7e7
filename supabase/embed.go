// Package supabase carries the database part of the project into Go: the migrations, as they lie in this folder.
// The program compares them with what a database has applied, and the tests build their databases from them.
package supabase

import (
	"embed"
	"io/fs"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the folder migrations/: files named <version>_<name>.sql, applied in the order of their names.
func Migrations() fs.FS {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is part of the binary: this cannot fail
	}
	return migrations
}
