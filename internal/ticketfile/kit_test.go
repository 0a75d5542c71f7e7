package ticketfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// write creates these files in folder. Names ending in .gz are compressed.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		data := []byte(content)
		if strings.HasSuffix(name, ".gz") {
			data = zip(t, content)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
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

func open(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return r
}

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
