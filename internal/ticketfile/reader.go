package ticketfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Reader reads the projects and tickets of one import. Each pass opens and closes its file, so a
// Reader needs no closing, and a pass may be aborted or repeated.
type Reader struct {
	projects, tickets *file                                                           // two views of the same file in an export
	rows              func(name string, from *bufio.Reader, n *notices) (rows, error) // nil for JSON Lines
	notices           notices                                                         // of the last pass over tickets
	format, prefix    string
}

// rows reads the tickets of an export. Its projects are collected from the tickets.
type rows interface {
	nextTicket() (Ticket, error)
	nextProject() (Project, error)
}

// Open detects the format of the import at path. It fails if no format matches, if a file cannot be
// opened, if a CSV file lacks required columns, or if a JSON file is not an export of issues.
func Open(path string) (*Reader, error) {
	r, err := detect(path)
	if err != nil {
		return nil, fmt.Errorf("open import: %w", err)
	}
	return r, nil
}

func detect(path string) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return detectFolder(path)
	}
	r := &Reader{}
	switch name := strings.TrimSuffix(strings.ToLower(info.Name()), ".gz"); {
	case strings.HasSuffix(name, ".csv"):
		r.rows = func(name string, from *bufio.Reader, n *notices) (rows, error) { return newCSVRows(name, from, n) }
	case strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson"):
		r.rows = func(name string, from *bufio.Reader, n *notices) (rows, error) {
			return newGithubRows(name, from, n), nil
		}
	default:
		return nil, fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz) nor an export: "+
			"from Jira or Linear (.csv or .csv.gz), or of GitHub issues (.json, .jsonl or .gz of them)", path)
	}
	if r.projects, err = newFile(path); err != nil {
		return nil, err
	}
	if r.tickets, err = newFile(path); err != nil {
		return nil, err
	}
	in, err := r.tickets.open()
	if err != nil {
		return nil, err
	}
	defer in.close()
	opened, err := r.rows(path, in.Reader, &notices{})
	if err == nil {
		r.format, err = formatOf(opened)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// formatOf names the format. It tells a file of GitHub issues from other JSON by its first object.
func formatOf(opened rows) (string, error) {
	issues, ok := opened.(*githubRows)
	if !ok {
		return opened.(*csvRows).form.name, nil
	}
	value, err := issues.values.next()
	if err == io.EOF && issues.values.some || err == errTooLong {
		return "github", nil
	}
	if err == io.EOF {
		return "", errNoIssues
	}
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields["number"] == nil || fields["title"] == nil {
		return "", errNoIssues
	}
	return "github", nil
}

// Format returns "jsonl", "jira", "linear" or "github".
func (r *Reader) Format() string { return r.format }

// SetPrefix puts a text before all keys of projects and tickets.
func (r *Reader) SetPrefix(prefix string) error {
	if _, err := checkKey("the prefix", prefix); err != nil && prefix != "" {
		return err
	}
	r.prefix = prefix
	return nil
}

func detectFolder(folder string) (*Reader, error) {
	r := Reader{format: "jsonl"}
	for _, want := range []struct {
		name string
		file **file
	}{{"projects.jsonl", &r.projects}, {"tickets.jsonl", &r.tickets}} {
		path, err := plainOrGzip(folder, want.name)
		if err != nil {
			return nil, err
		}
		if *want.file, err = newFile(path); err != nil {
			return nil, err
		}
		in, err := (*want.file).open() // report a missing permission or bad gzip before the import starts
		if err != nil {
			return nil, err
		}
		in.close()
	}
	return &r, nil
}

func plainOrGzip(folder, name string) (string, error) {
	plain := filepath.Join(folder, name)
	_, plainErr := os.Stat(plain)
	_, gzipErr := os.Stat(plain + ".gz")
	switch {
	case plainErr == nil && gzipErr == nil:
		return "", fmt.Errorf("%s holds both %s and %[2]s.gz: keep the one to import", folder, name)
	case plainErr == nil:
		return plain, nil
	case gzipErr == nil:
		return plain + ".gz", nil
	case !errors.Is(plainErr, os.ErrNotExist):
		return "", plainErr
	case !errors.Is(gzipErr, os.ErrNotExist):
		return "", gzipErr
	}
	return "", fmt.Errorf("%s holds no %s or %[2]s.gz: a folder to import holds projects.jsonl and tickets.jsonl, plain or gzipped", folder, name)
}

// Projects yields the projects in file order. A bad row yields a *RowError and reading continues;
// any other error ends the pass. An export has no project rows: its projects come from its good
// tickets, each yielded once; Tickets reports the bad rows.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	return pass(r.projects, func(p Project) Project { return p.prefixed(r.prefix) }, func(in *stream) (func() (Project, error), error) {
		if r.rows != nil {
			rows, err := r.rows(r.projects.path, in.Reader, &notices{})
			if err != nil {
				return nil, err
			}
			return rows.nextProject, nil
		}
		return jsonRows(r.projects.path, in.Reader, decodeProject), nil
	})
}

// Tickets yields the tickets in file order. A bad row yields a *RowError and reading continues; any
// other error ends the pass. A repeated key is yielded again.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] {
	return pass(r.tickets, func(t Ticket) Ticket { return t.prefixed(r.prefix) }, func(in *stream) (func() (Ticket, error), error) {
		if r.rows != nil {
			r.notices = notices{}
			rows, err := r.rows(r.tickets.path, in.Reader, &r.notices)
			if err != nil {
				return nil, err
			}
			return rows.nextTicket, nil
		}
		return jsonRows(r.tickets.path, in.Reader, decodeTicket), nil
	})
}

// Notices returns remarks about the whole file, such as ignored columns, from the last pass of
// Tickets. Call it after the pass.
func (r *Reader) Notices() []string { return r.notices.list() }

// Progress returns how many bytes on disk have been read, and how many a pass of Projects and one
// of Tickets read together. Repeating a pass restarts its share. It may be called during a pass.
func (r *Reader) Progress() (done, total int64) {
	for _, f := range []*file{r.projects, r.tickets} {
		done += min(f.read.Load(), f.size) // a file may grow during the pass
		total += f.size
	}
	return done, total
}

// pass opens f, gets from start the function that reads the next row, and yields rows, with their
// prefix, until io.EOF or an error other than a RowError.
func pass[T any](f *file, prefixed func(T) T, start func(*stream) (func() (T, error), error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in, err := f.open()
		if err != nil {
			yield(none, err)
			return
		}
		defer in.close()
		next, err := start(in)
		if err != nil {
			yield(none, fmt.Errorf("read %s: %w", f.path, err))
			return
		}
		for {
			row, err := next()
			var bad *RowError
			switch {
			case err == nil:
				if !yield(prefixed(row), nil) {
					return
				}
			case errors.As(err, &bad):
				if !yield(none, bad) {
					return
				}
			case err == io.EOF: // not errors.Is: a wrapped one is not the end
				return
			default:
				yield(none, fmt.Errorf("read %s: %w", f.path, err))
				return
			}
		}
	}
}
