package ticketfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reader reads the projects and tickets of one import. Each pass opens and closes its file, so a
// Reader needs no closing, and a pass may be aborted or repeated.
type Reader struct {
	projects, tickets *file // projects is nil for an export, which has no rows of projects
	format, prefix    string
	notices           notices // of the last pass over tickets
}

// rows are the rows of a file in some format.
type rows struct {
	format string
	names  fieldNames
	// next returns a ticket that is not yet checked. A *RowError concerns that row alone and needs no
	// file; io.EOF is the end; any other error is final.
	next func() (Ticket, error)
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

func detect(path string) (r *Reader, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r = &Reader{}
	if info.IsDir() {
		if r.projects, err = inFolder(path, "projects.jsonl"); err != nil {
			return nil, err
		}
		r.tickets, err = inFolder(path, "tickets.jsonl")
	} else {
		r.tickets, err = newFile(path)
	}
	if err != nil {
		return nil, err
	}
	in, err := r.tickets.open()
	if err != nil {
		return nil, err
	}
	defer in.disk.Close()
	rows, err := r.rows(in)
	if err == nil && rows.format == "github" { // which its first object shows
		if _, err = rows.next(); err == io.EOF || isRowError(err) {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	r.format = rows.format
	return r, nil
}

func inFolder(folder, name string) (*file, error) {
	plain, err := newFile(filepath.Join(folder, name))
	zipped, zipErr := newFile(filepath.Join(folder, name+".gz"))
	switch {
	case err == nil && zipErr == nil:
		return nil, fmt.Errorf("%s holds both %s and %[2]s.gz: keep the one to import", folder, name)
	case zipErr == nil:
		return zipped, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s holds no %s or %[2]s.gz: a folder to import holds projects.jsonl and tickets.jsonl, plain or gzipped (%w)", folder, name, zipErr)
	}
	return plain, err
}

// rows starts reading the file of tickets.
func (r *Reader) rows(in *stream) (rows, error) {
	r.notices = notices{}
	name := strings.TrimSuffix(strings.ToLower(r.tickets.path), ".gz")
	switch ext := filepath.Ext(name); {
	case r.projects != nil:
		return newJSONRows(in), nil
	case ext == ".csv":
		return newCSVRows(in, r.notices)
	case ext == ".json" || ext == ".jsonl" || ext == ".ndjson":
		return newGithubRows(in, r.notices), nil
	}
	return rows{}, fmt.Errorf("%s is neither a folder with projects.jsonl and tickets.jsonl (or .jsonl.gz) nor an export: "+
		"from Jira or Linear (.csv or .csv.gz), or of GitHub issues (.json, .jsonl or .gz of them)", r.tickets.path)
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

// Projects yields the projects in file order. A bad row yields a *RowError and reading continues;
// any other error ends the pass. An export has no project rows: its projects come from its good
// tickets, each yielded once; Tickets reports the bad rows.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	if r.projects != nil {
		return pass(r.projects, func(in *stream) (func() (Project, error), error) {
			lines := &jsonLines{in: in}
			return func() (Project, error) {
				p, err := lines.nextProject()
				p.Key = r.prefix + p.Key
				return p, err
			}, nil
		})
	}
	return func(yield func(Project, error) bool) {
		seen := map[string]bool{}
		for ticket, err := range r.Tickets() {
			if isRowError(err) || err == nil && seen[ticket.ProjectKey] {
				continue
			}
			seen[ticket.ProjectKey] = true
			ticket.project.Key = ticket.ProjectKey
			if !yield(ticket.project, err) {
				return
			}
		}
	}
}

// Tickets yields the tickets in file order. A bad row yields a *RowError and reading continues; any
// other error ends the pass. A repeated key is yielded again.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] {
	return pass(r.tickets, func(in *stream) (func() (Ticket, error), error) {
		rows, err := r.rows(in)
		return func() (Ticket, error) { return r.nextTicket(rows) }, err
	})
}

func (r *Reader) nextTicket(rows rows) (Ticket, error) {
	t, err := rows.next()
	if err != nil {
		return t, err
	}
	t.File = r.tickets.path
	if err := t.check(rows.names); err != nil {
		return t, &RowError{t.File, t.Line, err.Error()}
	}
	t.Key, t.ProjectKey = r.prefix+t.Key, r.prefix+t.ProjectKey
	for i := range t.Links {
		t.Links[i].Key.Value = r.prefix + t.Links[i].Key.Value
	}
	return t, nil
}

// pass opens f, gets from start the function that reads the next row, and yields rows until io.EOF
// or an error other than a RowError.
func pass[T any](f *file, start func(*stream) (next func() (T, error), err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in, err := f.open()
		if err != nil {
			yield(none, err)
			return
		}
		defer in.disk.Close()
		next, err := start(in)
		for err == nil {
			var row T
			row, err = next()
			if bad, is := errors.AsType[*RowError](err); is {
				bad.File = f.path
				if err = nil; !yield(none, bad) {
					return
				}
			} else if err == nil && !yield(row, nil) {
				return
			}
		}
		if err != io.EOF { // not errors.Is: a wrapped one is not the end
			yield(none, fmt.Errorf("read %s: %w", f.path, err))
		}
	}
}

func isRowError(err error) bool {
	_, is := errors.AsType[*RowError](err)
	return is
}

// Progress returns how many bytes on disk the current pass has read, of how many. It may be called
// during the pass.
func (r *Reader) Progress() (done, total int64) {
	return min(r.tickets.read.Load(), r.tickets.size), r.tickets.size // the file may grow during the pass
}

// notices count remarks about the whole file, collected while its tickets are read. A remark that
// is counted 0 times is not about rows.
type notices map[string]int

// Notices returns remarks about the whole file, such as ignored columns, from the last pass of
// Tickets. Call it after the pass.
func (r *Reader) Notices() (all []string) {
	for _, remark := range slices.Sorted(maps.Keys(r.notices)) {
		if count := r.notices[remark]; count > 0 {
			remark += fmt.Sprintf(": %d", count)
		}
		all = append(all, remark)
	}
	return all
}
