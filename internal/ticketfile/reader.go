package ticketfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
)

// Reader reads the projects and tickets of one import. A pass may be aborted or repeated, and
// closes its files; there is one at a time.
type Reader struct {
	projects, tickets []file // no projects for exports, which have no rows of projects
	format, prefix    string
	kept              Kept
	people            people // of all passes: a name may come after its id

	// Of the last pass over tickets:
	disk    *os.File // being read; nil between files
	done    int64    // bytes of the files that were read
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
	r.done, r.notices, r.unread, r.repos = 0, notices{}, map[string]int{}, map[string]string{}
}

// rows are the rows of a file in some format.
type rows struct {
	format string
	names  columns // nil if the rows are projects
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
	return func(yield func(Project, error) bool) {
		files, seen := r.projects, map[string]bool{}
		if files == nil {
			files = r.tickets
		}
		for t, err := range r.pass(files) {
			_, isBad := errors.AsType[*RowError](err)
			if r.projects == nil && (isBad || err == nil && seen[t.project.Key]) {
				continue
			}
			seen[t.project.Key] = true
			var isCut bool
			if t.project.Name, isCut = shorten(t.project.Name, maxName); isCut {
				t.project.Warning = &RowError{t.File, t.Line, t.project.Key, fmt.Sprintf("the project's name is cut to %d characters", maxName)}
			}
			if !yield(t.project, err) {
				return
			}
		}
	}
}

// Tickets yields the tickets in file order. A bad row yields a *RowError and reading continues; any
// other error ends the pass. A repeated key is yielded again.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] { return r.pass(r.tickets) }

// pass opens the files one after the other and yields their rows until the last file ends or an
// error other than a RowError.
func (r *Reader) pass(files []file) iter.Seq2[Ticket, error] {
	return func(yield func(Ticket, error) bool) {
		r.reset()
		defer r.close()
		for _, f := range files {
			rows, err := r.start(f)
			for err == nil {
				var t Ticket
				t, err = r.nextTicket(f.path, rows)
				bad, isBad := errors.AsType[*RowError](err)
				if isBad {
					bad.File = f.path
				}
				if isBad || err == nil {
					if !yield(t, err) {
						return
					}
					err = nil
				}
			}
			if err != io.EOF { // not errors.Is: a wrapped one is not the end
				yield(Ticket{}, fmt.Errorf("read %s: %w", f.path, err))
				return
			}
			r.close()
			r.done += f.size
		}
	}
}

func (r *Reader) nextTicket(path string, rows rows) (Ticket, error) {
	t, err := rows.next()
	if err != nil {
		return t, err
	}
	t.File = path
	if rows.names == nil { // a project
		t.project.Key = r.prefix + t.project.Key
		return t, nil
	}
	if err := t.check(rows.names); err != nil {
		return t, &RowError{File: t.File, Line: t.Line, Key: t.Key, Reason: err.Error()}
	}
	r.namePeople(&t)
	t.project.Name = cmp.Or(strings.TrimSpace(clean(t.project.Name)), t.ProjectKey)
	t.Key, t.ProjectKey = r.prefix+t.Key, r.prefix+t.ProjectKey
	t.project.Key = t.ProjectKey
	for i := range t.Links {
		t.Links[i].Key = r.prefix + t.Links[i].Key
	}
	for _, warning := range t.Warnings {
		warning.Key = t.Key
	}
	return t, nil
}

// Progress returns how many bytes on disk the current pass has read, of how many.
func (r *Reader) Progress() (done, total int64) {
	for _, f := range r.tickets {
		total += f.size
	}
	if r.disk != nil {
		done, _ = r.disk.Seek(0, io.SeekCurrent)
	}
	return min(r.done+done, total), total // the files may grow during the pass
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
