package ticketfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Reader reads the projects and tickets of one import. Each pass opens and closes its files, so a
// Reader needs no closing, and a pass may be aborted or repeated.
type Reader struct {
	projects, tickets []*file // no projects for exports, which have no rows of projects
	format, prefix    string
	kept              Kept
	people            people // of all passes: a name may come after its id

	// Of the last pass over tickets:
	notices notices
	unread  map[string]int    // rows with a value, by column
	repos   map[string]string // host/owner/name, by project key
}

func newReader() *Reader {
	r := &Reader{kept: Kept{Text: strings.Split(DefaultText, ",")}, people: people{}}
	r.reset()
	return r
}

func (r *Reader) reset() {
	r.notices, r.unread, r.repos = notices{}, map[string]int{}, map[string]string{}
	for _, f := range r.tickets {
		f.read.Store(0)
	}
}

// rows are the rows of a file in some format.
type rows struct {
	format string
	names  fieldNames
	// next returns a ticket that is not yet checked. A *RowError concerns that row alone and needs no
	// file; io.EOF is the end; any other error is final.
	next func() (Ticket, error)
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

// Keep names the columns to keep that are no fields of a ticket.
func (r *Reader) Keep(columns Kept) { r.kept = columns }

// Projects yields the projects in file order. A bad row yields a *RowError and reading continues;
// any other error ends the pass. An export has no project rows: its projects come from its good
// tickets, each yielded once; Tickets reports the bad rows.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	if r.projects != nil {
		return pass(r.projects, func(_ *file, in *stream) (func() (Project, error), error) {
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
	return func(yield func(Ticket, error) bool) {
		r.reset()
		pass(r.tickets, func(f *file, in *stream) (func() (Ticket, error), error) {
			rows, err := r.rows(f, in)
			return func() (Ticket, error) { return r.nextTicket(f, rows) }, err
		})(yield)
	}
}

func (r *Reader) nextTicket(f *file, rows rows) (Ticket, error) {
	t, err := rows.next()
	if err != nil {
		return t, err
	}
	t.File = f.path
	if err := t.check(rows.names); err != nil {
		return t, &RowError{File: t.File, Line: t.Line, Key: t.Key, Reason: err.Error()}
	}
	r.namePeople(&t)
	t.Key, t.ProjectKey = r.prefix+t.Key, r.prefix+t.ProjectKey
	for i := range t.Links {
		t.Links[i].Key.Value = r.prefix + t.Links[i].Key.Value
	}
	for _, warning := range t.Warnings {
		warning.Key = t.Key
	}
	return t, nil
}

// pass opens the files one after the other, gets from start the function that reads the next row,
// and yields rows until the last file ends or an error other than a RowError.
func pass[T any](files []*file, start func(*file, *stream) (next func() (T, error), err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, f := range files {
			if !passFile(f, start, yield) {
				return
			}
		}
	}
}

// passFile reports whether the next file may be read.
func passFile[T any](f *file, start func(*file, *stream) (next func() (T, error), err error), yield func(T, error) bool) bool {
	var none T
	in, err := f.open()
	if err != nil {
		yield(none, err)
		return false
	}
	defer in.disk.Close()
	next, err := start(f, in)
	for err == nil {
		var row T
		row, err = next()
		if bad, is := errors.AsType[*RowError](err); is {
			bad.File = f.path
			if err = nil; !yield(none, bad) {
				return false
			}
		} else if err == nil && !yield(row, nil) {
			return false
		}
	}
	if err != io.EOF { // not errors.Is: a wrapped one is not the end
		yield(none, fmt.Errorf("read %s: %w", f.path, err))
		return false
	}
	return true
}

func isRowError(err error) bool {
	_, is := errors.AsType[*RowError](err)
	return is
}

// Progress returns how many bytes on disk the current pass has read, of how many. It may be called
// during the pass.
func (r *Reader) Progress() (done, total int64) {
	for _, f := range r.tickets {
		done, total = done+min(f.read.Load(), f.size), total+f.size // the file may grow during the pass
	}
	return done, total
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
	var left []string
	for _, column := range slices.Sorted(maps.Keys(r.unread)) {
		left = append(left, fmt.Sprintf("%s (%d)", strings.Trim(quote(column), `"`), r.unread[column]))
	}
	if left != nil {
		all = append(all, "columns left out, with their number of rows: "+strings.Join(left, ", "))
	}
	return all
}
