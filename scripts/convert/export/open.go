package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// files are the paths of an import. Exports have no rows of projects.
type files struct {
	projects, tickets, documents []string
	links                        links
}

// all returns the files in the order in which they are read.
func (f *files) all() []string { return slices.Concat(f.projects, f.tickets, f.documents) }

// isLines reports whether the files are JSON Lines.
func (f *files) isLines() bool { return f.projects != nil || f.documents != nil }

// links are symbolic links in folders. They are skipped and named: they may lead out of a folder. A
// path that the user names is followed.
type links []string

// skip reports whether an entry of a folder is a link.
func (l *links) skip(path string, entry fs.DirEntry) bool {
	is := entry.Type()&fs.ModeSymlink != 0
	if is {
		*l = append(*l, path)
	}
	return is
}

func (l links) String() string {
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf("symbolic links in a folder are not followed: %d (%s)", len(l), strings.Join(l[:min(len(l), 5)], ", "))
}

// find finds the files at these paths, or in folders there.
func (r *reader) find(paths ...string) error {
	for _, path := range paths {
		if err := r.add(path); err != nil {
			return fmt.Errorf("open import: %w", err)
		}
	}
	if r.isLines() && len(r.projects)+len(r.documents) < len(paths) {
		return errors.New("open import: folders of JSON Lines and other files are imported one after the other")
	}
	return nil
}

// probe reports why the files at these paths are no import of tickets, by their beginnings.
func probe(paths ...string) error {
	r := newReader(Options{})
	if err := r.find(paths...); err != nil {
		return err
	}
	for _, path := range r.all() {
		rows, err := r.start(path)
		if err != nil {
			return err
		}
		rows.in.Close()
	}
	return nil
}

const manifestFile, projectLines, ticketLines, documentLines = "manifest.json", "projects.jsonl", "tickets.jsonl", "documents.jsonl"

// add finds the files at a path: itself, the exports in a folder, or its files of JSON Lines.
func (r *reader) add(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return addFile(&r.tickets, path)
	}
	entries, err := os.ReadDir(path)
	var exports []string
	found := map[string][]string{}
	for _, entry := range entries {
		name := entry.Name()
		switch plain := strings.TrimSuffix(name, ".gz"); {
		case r.links.skip(filepath.Join(path, name), entry):
		case slices.Contains([]string{projectLines, ticketLines, documentLines}, plain):
			found[plain] = append(found[plain], filepath.Join(path, name))
		case isExport(name):
			exports = append(exports, filepath.Join(path, name))
		}
	}
	if len(found) == 0 && len(exports) > 0 {
		for _, export := range exports {
			err = cmp.Or(err, addFile(&r.tickets, export))
		}
		return err
	}
	if manifest := filepath.Join(path, manifestFile); slices.Contains(exports, manifest) {
		if err := r.readManifest(manifest); err != nil {
			return err
		}
	}
	if isWritten := r.before.Format != ""; isWritten && len(found[documentLines]) == 1 && r.before.Documents > 0 {
		return addFile(&r.documents, found[documentLines][0])
	}
	for _, name := range []string{projectLines, ticketLines} {
		if len(found[name]) != 1 {
			return cmp.Or(err, fmt.Errorf("%s holds %d of %s and %[3]s.gz: a folder to import holds exports, or projects.jsonl and tickets.jsonl, plain or gzipped. %s", path, len(found[name]), name, r.links))
		}
	}
	return cmp.Or(addFile(&r.projects, found[projectLines][0]), addFile(&r.tickets, found[ticketLines][0]))
}

// readManifest reads that of a folder which Convert wrote.
func (r *reader) readManifest(path string) error {
	text, err := os.ReadFile(path)
	var manifest Manifest
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	case r.before.Format != "" && manifest.Format != "":
		return fmt.Errorf("%s: folders with a manifest are imported one after the other", path)
	}
	r.before = manifest
	return nil
}

func addFile(to *[]string, path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe can block, and has no end to go back from
		err = fmt.Errorf("%s is not a regular file", path)
	}
	*to = append(*to, path)
	return err
}

var (
	exportNames = []string{".csv", ".tsv", ".json", ".jsonl", ".ndjson"}
	tableNames  = []string{".csv", ".tsv", ".txt"} // Excel's Unicode text
)

// isExport reports whether a file in a folder has the name of an export.
func isExport(name string) bool {
	return slices.Contains(exportNames, extension(name)) && name[0] != '.'
}

func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}

// start opens a file and finds its tracker, which is that of all files.
func (r *reader) start(path string) (rows rows, err error) {
	in, err := openStream(path)
	if err == nil {
		rows, err = r.rowsOf(in, path)
	}
	switch {
	case err != nil && in != nil:
		in.Close()
		fallthrough
	case err != nil:
		return rows, fmt.Errorf("open import: read %s: %w", path, whole(err))
	case r.tracker != nil && rows.tracker != nil && r.tracker != rows.tracker:
		in.Close()
		return rows, fmt.Errorf("open import: %s is of the format %s, the files before it of %s: import them one after the other", path, rows.name, r.name)
	}
	rows.in, r.tracker = in, cmp.Or(r.tracker, rows.tracker)
	return rows, nil
}

func (r *reader) rowsOf(in *stream, path string) (rows, error) {
	switch {
	case slices.Contains(r.projects, path):
		return rows{next: (&jsonLines{in: in, reader: r}).nextProject}, nil
	case slices.Contains(r.documents, path):
		return rows{next: (&jsonLines{in: in, reader: r}).nextDocument}, nil
	case r.isLines():
		return newLines(in, r), nil
	case slices.Contains(tableNames, extension(path)):
		return newRecords(in, r)
	case slices.Contains(exportNames, extension(path)):
		return newIssues(in, r)
	}
	return rows{}, fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz) nor an export: "+
		"from %s (.csv or .csv.gz), or of %s issues (.json, .jsonl or .gz of them)", path, titles(hasHeader), titles(hasObject))
}
