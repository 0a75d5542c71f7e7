package ticketfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	for _, path := range paths {
		if err := r.add(path); err != nil {
			return nil, fmt.Errorf("open import: %w", err)
		}
	}
	if len(r.projects) > 0 && len(r.projects) < len(r.tickets) {
		return nil, errors.New("open import: folders of JSON Lines and other files are imported one after the other")
	}
	for _, path := range r.tickets {
		rows, err := r.start(path)
		if err != nil {
			return nil, fmt.Errorf("open import: read %s: %w", path, whole(err))
		}
		rows.in.Close()
		if r.format != nil && rows.format != nil && r.format != rows.format {
			return nil, fmt.Errorf("open import: %s is of the format %s, the files before it of %s: import them one after the other", path, rows.name, r.format.name)
		}
		r.format = cmp.Or(r.format, rows.format)
	}
	r.format = cmp.Or(r.format, &github)
	return r, nil
}

// Links are symbolic links in folders. They are skipped and named: they may lead out of a folder. A
// path that the user names is followed.
type Links []string

// Skip reports whether an entry of a folder is a link.
func (l *Links) Skip(path string, entry fs.DirEntry) bool {
	is := entry.Type()&fs.ModeSymlink != 0
	if is {
		*l = append(*l, path)
	}
	return is
}

func (l Links) String() string {
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf("symbolic links in a folder are not followed: %d (%s)", len(l), strings.Join(l[:min(len(l), 5)], ", "))
}

// add finds the files at a path: itself, the exports in a folder, or its two files of JSON Lines.
func (r *Reader) add(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return addFile(&r.tickets, path)
	}
	entries, err := os.ReadDir(path)
	var exports []string
	lines := map[string][]string{}
	for _, entry := range entries {
		name := entry.Name()
		switch plain := strings.TrimSuffix(name, ".gz"); {
		case r.links.Skip(filepath.Join(path, name), entry):
		case plain == projectLines || plain == ticketLines:
			lines[plain] = append(lines[plain], filepath.Join(path, name))
		case IsExport(name):
			exports = append(exports, filepath.Join(path, name))
		}
	}
	if len(lines) == 0 && len(exports) > 0 {
		for _, export := range exports {
			err = cmp.Or(err, addFile(&r.tickets, export))
		}
		return err
	}
	for _, name := range []string{projectLines, ticketLines} {
		if len(lines[name]) != 1 {
			return cmp.Or(err, fmt.Errorf("%s holds %d of %s and %[3]s.gz: a folder to import holds exports, or projects.jsonl and tickets.jsonl, plain or gzipped. %s", path, len(lines[name]), name, r.links))
		}
	}
	return cmp.Or(addFile(&r.projects, lines[projectLines][0]), addFile(&r.tickets, lines[ticketLines][0]))
}

func addFile(to *[]string, path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe can be read only once, and blocks
		err = fmt.Errorf("%s is not a regular file", path)
	}
	*to = append(*to, path)
	return err
}

const projectLines, ticketLines = "projects.jsonl", "tickets.jsonl"

var (
	exportNames = []string{".csv", ".tsv", ".json", ".jsonl", ".ndjson"}
	tableNames  = []string{".csv", ".tsv", ".txt"} // Excel's Unicode text
)

// IsExport reports whether a file in a folder has the name of an export.
func IsExport(name string) bool {
	return slices.Contains(exportNames, extension(name)) && name[0] != '.'
}

func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}

// start opens a file and finds its format.
func (r *Reader) start(path string) (rows rows, err error) {
	in, err := openStream(path)
	if err != nil {
		return rows, err
	}
	switch {
	case slices.Contains(r.projects, path):
		rows.next = (&jsonLines{in: in, reader: r}).nextProject
	case r.projects != nil:
		rows = newLines(in, r)
	case slices.Contains(tableNames, extension(path)):
		rows, err = newRecords(in, r)
	case slices.Contains(exportNames, extension(path)):
		rows, err = newIssues(in, r)
	default:
		err = fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz) nor an export: "+
			"from Jira or Linear (.csv or .csv.gz), or of Jira or GitHub issues (.json, .jsonl or .gz of them)", path)
	}
	if rows.in = in; err != nil {
		in.Close()
	}
	return rows, err
}
