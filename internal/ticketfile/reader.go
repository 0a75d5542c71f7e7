package ticketfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Reader reads the projects and tickets of one import. It holds no open file: each pass opens its file and closes it
// at its end, so there is nothing to close, and a pass may be broken off or repeated.
type Reader struct {
	projects, tickets *file // two views of the same file in an export
	form              form
	unread            []string
}

type form int

const (
	folderForm form = iota
	csvExport
	githubExport
)

// Unread returns the names of the columns of a CSV export that are not read.
func (r *Reader) Unread() []string { return r.unread }

// Open finds out which form the import at path has. It fails when path is of neither form, when a file of it cannot be
// opened, and when a CSV file lacks the columns that a Jira export has.
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
	r := &Reader{form: csvExport}
	switch name := strings.TrimSuffix(strings.ToLower(info.Name()), ".gz"); {
	case strings.HasSuffix(name, ".csv"):
	case strings.HasSuffix(name, ".json"):
		r.form = githubExport
	default:
		return nil, fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz), nor a CSV export from Jira or Linear (.csv), nor issues of GitHub (.json), plain or .gz", path)
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
	if r.form == csvExport {
		rows, err := newCSVRows(path, in.Reader)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		r.unread = rows.unread
		return r, nil
	}
	// What is no JSON at all is better known now than after the projects.
	if _, _, err := newGitHubRows(path, in.Reader).object(); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
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

// Projects yields the projects in the order of the file. A bad row yields a *RowError and reading goes on; any other
// error is the last thing yielded. An export has no rows for projects: they are collected from its good tickets, each
// yielded once, with the name and description of its first ticket; what is bad is left for Tickets to report.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	return pass(r.projects, func(in *stream) (func() (Project, error), error) {
		switch r.form {
		case csvExport:
			rows, err := newCSVRows(r.projects.path, in.Reader)
			if err != nil {
				return nil, err
			}
			return rows.nextProject, nil
		case githubExport:
			return newGitHubRows(r.projects.path, in.Reader).nextProject, nil
		}
		return jsonRows(r.projects.path, in.Reader, decodeProject), nil
	})
}

// Tickets yields the tickets in the order of the file. A bad row yields a *RowError and reading goes on; any other
// error is the last thing yielded. A key that occurs twice is yielded twice.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] {
	return pass(r.tickets, func(in *stream) (func() (Ticket, error), error) {
		switch r.form {
		case csvExport:
			rows, err := newCSVRows(r.tickets.path, in.Reader)
			if err != nil {
				return nil, err
			}
			return rows.nextTicket, nil
		case githubExport:
			return newGitHubRows(r.tickets.path, in.Reader).nextTicket, nil
		}
		return jsonRows(r.tickets.path, in.Reader, decodeTicket), nil
	})
}

// Progress returns how many bytes have been read, and how many one pass of Projects and one of Tickets read together:
// bytes on disk, so compressed ones where a file is gzipped. A repeated pass starts its share afresh. It may be called
// while a pass runs.
func (r *Reader) Progress() (done, total int64) {
	for _, f := range []*file{r.projects, r.tickets} {
		done += min(f.read.Load(), f.size) // a file may grow while it is read
		total += f.size
	}
	return done, total
}

// pass opens f, lets start build the function that reads the next row, and yields its rows: on behind a RowError, up
// to io.EOF or any other error.
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
