package migrate

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// Migration is one file of the folder.
type Migration struct {
	File       string // 20260101000100_extensions.sql
	Version    string // 20260101000100
	Name       string // extensions
	Statements []Statement
}

// texts are the statements as they are recorded; none is an empty list, not nil.
func (m Migration) texts() []string {
	texts := make([]string, len(m.Statements))
	for i, s := range m.Statements {
		texts[i] = s.Text
	}
	return texts
}

var fileName = regexp.MustCompile(`^([0-9]{14})_(.+)\.sql$`)

// Read returns the migrations of a folder in the order in which they are applied, which is the order of their file
// names. Files that are no SQL are left alone; SQL under a name without a version would be left behind, so it is an error.
func Read(folder fs.FS) ([]Migration, error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	migrations := make([]Migration, 0, len(names))
	seen := make(map[string]string, len(names))
	for _, name := range names {
		parts := fileName.FindStringSubmatch(path.Base(name))
		if parts == nil {
			return nil, fmt.Errorf("migration %s: its name must be <14 digits>_<name>.sql", name)
		}
		if other, taken := seen[parts[1]]; taken {
			return nil, fmt.Errorf("migration %s: %s has the same version", name, other)
		}
		seen[parts[1]] = name
		sql, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		migrations = append(migrations, Migration{
			File: name, Version: parts[1], Name: parts[2], Statements: Split(string(sql)),
		})
	}
	slices.SortFunc(migrations, func(a, b Migration) int { return cmp.Compare(a.File, b.File) })
	return migrations, nil
}
