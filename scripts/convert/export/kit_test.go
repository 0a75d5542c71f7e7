package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// folderOf creates these files in a folder of this name.
func folderOf(t *testing.T, name string, files map[string]string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), name)
	write(t, folder, files)
	return folder
}

// write creates these files in folder. Names ending in .gz are compressed.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		data := []byte(content)
		if strings.HasSuffix(name, ".gz") {
			data = zip(t, content)
		}
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
	}
}

// writeOne creates a file in a folder of its own, and returns the path to open: of JSON Lines, the
// folder.
func writeOne(t *testing.T, name, content string) (path string) {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, map[string]string{name: content})
	if name != "tickets.jsonl" {
		return filepath.Join(folder, name)
	}
	write(t, folder, map[string]string{"projects.jsonl": ""})
	return folder
}

func zip(t *testing.T, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatalf("zip: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("zip: %v", err)
	}
	return out.Bytes()
}

// Reader shows what a conversion makes of files, row by row, also of those that are not written
// because their file cannot be read to its end.
type Reader struct {
	Options
	paths   []string
	*reader         // of the last pass
	written *reader // of the last one that wrote tickets
}

// Open fails if the files do not begin as those of an import.
func Open(paths ...string) (*Reader, error) {
	r := &Reader{Options: Options{Text: DefaultText}, paths: paths, reader: newReader(Options{})}
	if err := r.find(paths...); err != nil {
		return nil, err
	}
	return r, probe(paths...)
}

func open(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return r
}

// pass reads the files anew: what a conversion has of them before it checks any row by others.
func (r *Reader) pass() (all []Ticket, bad []error, err error) {
	r.reader = newReader(r.Options)
	if err := r.find(r.paths...); err != nil {
		return nil, nil, err
	}
	err = r.read(func(t Ticket, wrong error) error {
		all, bad = append(all, t), append(bad, wrong)
		return nil
	})
	return all, bad, err
}

// Tickets yields the tickets as they are written, and why others are not.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] {
	return func(yield func(Ticket, error) bool) {
		all, bad, err := r.pass()
		r.written = r.reader
		for i, t := range all {
			if slices.Contains(r.projects, t.File) {
				continue
			}
			if bad[i] == nil {
				r.settle(&t)
			}
			if !yield(t, bad[i]) {
				return
			}
		}
		if err != nil && !(r.Restricted == "" && len(r.unclear) > 0 && errors.Is(err, ErrFiles)) { // which Projects yields
			yield(Ticket{}, err)
		}
	}
}

// Projects yields the projects as they are written, without their places.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	return func(yield func(Project, error) bool) {
		all, bad, err := r.pass()
		seen := map[string]bool{}
		for i, t := range all {
			p, isRow := t.project, slices.Contains(r.projects, t.File)
			if bad[i] != nil && !isRow || bad[i] == nil && !isRow && (r.isLines() || seen[p.Key]) {
				continue
			}
			r.describe(&p)
			if p.File, p.Line, seen[p.Key] = "", 0, true; !yield(p, bad[i]) {
				return
			}
		}
		if err != nil {
			yield(Project{}, err)
		}
	}
}

// Len is the number of good tickets.
func (r *Reader) Len() (n int) {
	all, bad, _ := r.pass()
	for i := range all {
		if bad[i] == nil {
			n++
		}
	}
	return n
}

func (r *Reader) Keep(columns Kept) {
	r.Text, r.Labels = strings.Join(columns.Text, ","), strings.Join(columns.Labels, ",")
}

func (r *Reader) SetPrefix(prefix string) error {
	r.Prefix = prefix
	return r.check()
}

func (r *Reader) Format() string {
	_, _, _ = r.pass()
	return r.name
}

func (r *Reader) Notices() []string {
	if r.written != nil {
		return r.written.remarks()
	}
	return r.remarks()
}

func (r *Reader) Incomplete() string { return r.reader.pages.incomplete() }

// openCSV opens an export with this content, with its comments.
func openCSV(t *testing.T, content string) *Reader {
	t.Helper()
	r := open(t, writeOne(t, "export.csv", content))
	r.Restricted = Keep
	return r
}

// openTickets opens a folder with these ticket lines and no projects.
func openTickets(t *testing.T, lines string) *Reader {
	t.Helper()
	return open(t, writeOne(t, "tickets.jsonl", lines))
}

// collect reads all rows and returns the good rows, the bad rows and the error that ended reading.
func collect[T any](t *testing.T, rows iter.Seq2[T, error]) (good []T, bad []*RowError, fatal error) {
	t.Helper()
	for row, err := range rows {
		var rowErr *RowError
		switch {
		case fatal != nil:
			t.Fatalf("reading continued after the fatal error %v", fatal)
		case err == nil:
			good = append(good, row)
		case errors.As(err, &rowErr):
			bad = append(bad, rowErr)
		default:
			fatal = err
		}
	}
	return good, bad, fatal
}

// all reads all rows, which must be good.
func all[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	good, bad, fatal := collect(t, rows)
	if len(bad) > 0 {
		t.Fatalf("bad row: %v", bad[0])
	}
	if fatal != nil {
		t.Fatalf("read: %v", fatal)
	}
	return good
}

// one reads all rows, which must be a single good one.
func one[T any](t *testing.T, rows iter.Seq2[T, error]) T {
	t.Helper()
	good := all(t, rows)
	if len(good) != 1 {
		t.Fatalf("got %d rows, want 1", len(good))
	}
	return good[0]
}

func reasons(bad []*RowError) []string {
	var out []string
	for _, b := range bad {
		out = append(out, b.Reason)
	}
	return out
}

// withoutPlace ignores files and line numbers, which tests of content do not specify.
var withoutPlace = cmp.Options{cmpopts.IgnoreFields(Ticket{}, "File", "Line", "Written"), cmpopts.IgnoreUnexported(Ticket{})}

func hasNotes(path string) bool {
	n, err := openNotes(path)
	return err == nil && n.isImport(path)
}
