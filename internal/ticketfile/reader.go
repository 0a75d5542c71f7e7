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

// Reader reads the projects and tickets of one import. It holds no open file: each pass opens its
// file and closes it at its end, so there is nothing to close, and a pass may be broken off or
// repeated.
type Reader struct {
	projects, tickets *file                                                           // two views of the same file in an export
	rows              func(name string, from *bufio.Reader, n *notices) (rows, error) // nil for JSON Lines
	notices           notices                                                         // of the last pass over tickets
}

// rows reads the tickets of an export that has no projects of its own: these are collected from the
// tickets.
type rows interface {
	nextTicket() (Ticket, error)
	nextProject() (Project, error)
}

// Open finds out which form the import at path has. It fails when path is of neither form, when a
// file of it cannot be opened, and when a CSV file lacks the columns that an export has, or a JSON
// file holds something else.
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
		err = checkIssues(opened)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// checkIssues tells a file of GitHub issues from any other JSON by its first object.
func checkIssues(opened rows) error {
	issues, ok := opened.(*githubRows)
	if !ok {
		return nil
	}
	value, err := issues.values.next()
	if err == io.EOF && issues.values.some || err == errTooLong {
		return nil
	}
	if err == io.EOF {
		return errNoIssues
	}
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields["number"] == nil || fields["title"] == nil {
		return errNoIssues
	}
	return nil
}

func detectFolder(folder string) (*Reader, error) {
	var r Reader
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
		in, err := (*want.file).open() // a file without permission, or not gzip, is better known now than after the first half
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

// Projects yields the projects in the order of the file. A bad row yields a *RowError and reading
// goes on; any other error is the last thing yielded. An export has no rows for projects: they are
// collected from its good tickets, each yielded once, with the name and description of its first
// ticket; what is bad is left for Tickets to report.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	return pass(r.projects, func(in *stream) (func() (Project, error), error) {
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

// Tickets yields the tickets in the order of the file. A bad row yields a *RowError and reading
// goes on; any other error is the last thing yielded. A key that occurs twice is yielded twice.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] {
	return pass(r.tickets, func(in *stream) (func() (Ticket, error), error) {
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

// Notices says what a person should know of the file as a whole, such as columns that are left out:
// what the last pass of Tickets met. It may be called when the pass has ended.
func (r *Reader) Notices() []string { return r.notices.list() }

// Progress returns how many bytes have been read, and how many one pass of Projects and one of
// Tickets read together: bytes on disk, so compressed ones where a file is gzipped. A repeated pass
// starts its share afresh. It may be called while a pass runs.
func (r *Reader) Progress() (done, total int64) {
	for _, f := range []*file{r.projects, r.tickets} {
		done += min(f.read.Load(), f.size) // a file may grow while it is read
		total += f.size
	}
	return done, total
}

// pass opens f, lets start build the function that reads the next row, and yields its rows: on
// behind a RowError, up to io.EOF or any other error.
func pass[T any](f *file, start func(*stream) (func() (T, error), error)) iter.Seq2[T, error] {
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
				if !yield(row, nil) {
					return
				}
			case errors.As(err, &bad):
				if !yield(none, bad) {
					return
				}
			case err == io.EOF: // not errors.Is: only the bare one means the end
				return
			default:
				yield(none, fmt.Errorf("read %s: %w", f.path, err))
				return
			}
		}
	}
}
