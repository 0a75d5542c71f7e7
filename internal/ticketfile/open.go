package ticketfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Open detects the format of the files at these paths, or in folders there. It fails if no format
// or more than one matches, if a file cannot be opened, if a CSV file lacks required columns, or if
// a JSON file is not an export of issues.
func Open(paths ...string) (*Reader, error) {
	r := newReader()
	defer r.close()
	for _, path := range paths {
		if err := r.add(path); err != nil {
			return nil, fmt.Errorf("open import: %w", err)
		}
	}
	if len(r.projects) > 0 && len(r.projects) < len(r.tickets) {
		return nil, errors.New("open import: folders of JSON Lines and other files are imported one after the other")
	}
	for _, f := range r.tickets {
		rows, err := r.start(f)
		if err != nil {
			return nil, fmt.Errorf("open import: read %s: %w", f.path, err)
		}
		if r.format != "" && rows.format != "" && r.format != rows.format {
			return nil, fmt.Errorf("open import: %s is of the format %s, the files before it of %s: import them one after the other", f.path, rows.format, r.format)
		}
		r.format = cmp.Or(r.format, rows.format)
	}
	r.format = cmp.Or(r.format, github.name)
	return r, nil
}

// add finds the files at a path: itself, the exports in a folder, or its two files of JSON Lines.
func (r *Reader) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		f, err := newFile(path)
		r.tickets = append(r.tickets, f)
		return err
	}
	exports, err := exportsIn(path)
	if err != nil || len(exports) > 0 {
		r.tickets = append(r.tickets, exports...)
		return err
	}
	projects, err := inFolder(path, "projects.jsonl")
	if err != nil {
		return err
	}
	tickets, err := inFolder(path, "tickets.jsonl")
	r.projects, r.tickets = append(r.projects, projects), append(r.tickets, tickets)
	return err
}

// exportsIn returns the exports in a folder that is not one of JSON Lines.
func exportsIn(folder string) (exports []file, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "projects.jsonl") || strings.HasPrefix(name, "tickets.jsonl") {
			return nil, nil
		}
		if f, err := newFile(filepath.Join(folder, name)); err == nil && !strings.HasPrefix(name, ".") && slices.Contains(exportNames, extension(name)) {
			exports = append(exports, f)
		}
	}
	return exports, err
}

var exportNames = []string{".csv", ".json", ".jsonl", ".ndjson"}

func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}

func inFolder(folder, name string) (file, error) {
	plain, err := newFile(filepath.Join(folder, name))
	zipped, zipErr := newFile(filepath.Join(folder, name+".gz"))
	switch {
	case err == nil && zipErr == nil:
		return file{}, fmt.Errorf("%s holds both %s and %[2]s.gz: keep the one to import", folder, name)
	case zipErr == nil:
		return zipped, nil
	case errors.Is(err, os.ErrNotExist):
		return file{}, fmt.Errorf("%s holds no %s or %[2]s.gz: a folder to import holds projects.jsonl and tickets.jsonl, plain or gzipped (%w)", folder, name, zipErr)
	}
	return plain, err
}

// start opens a file of tickets.
func (r *Reader) start(f file) (rows, error) {
	in, err := r.open(f)
	if err != nil {
		return rows{}, err
	}
	switch ext := extension(f.path); {
	case r.projects != nil:
		return newJSONRows(in), nil
	case ext == ".csv":
		return newCSVRows(in, r)
	case slices.Contains(exportNames, ext):
		return newIssues(in, r)
	}
	return rows{}, fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz) nor an export: "+
		"from Jira or Linear (.csv or .csv.gz), or of Jira or GitHub issues (.json, .jsonl or .gz of them)", f.path)
}
