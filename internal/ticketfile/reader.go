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
	Restricted        string            // Keep or Omit what only some may see; "" omits it where the files tell
	people            people            // of all passes: a name may come after its id
	dates             map[string]*dates // of all passes, by file

	// Of the last pass over tickets:
	disk    *os.File // being read; nil between files
	done    int64    // bytes of the files that were read
	notices notices
	unread  map[string]int    // rows with a value, by column
	sources map[string]string // what a project's key stands for, by the key in capitals
	pages   pages
	unclear [2]int // comments of which no file says who may see them, and their tickets
}

func newReader() *Reader {
	r := &Reader{kept: Kept{Text: strings.Split(DefaultText, ",")}, people: people{}, dates: map[string]*dates{}}
	r.reset()
	return r
}

func (r *Reader) reset() {
	r.done, r.notices, r.unread, r.sources, r.pages, r.unclear = 0, notices{}, map[string]int{}, map[string]string{}, pages{ends: map[int]int{}}, [2]int{}
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
	if nameable(prefix+"1") != prefix+"1" || len(prefix) > MaxKey {
		return fmt.Errorf("the prefix %s is not of letters, digits and hyphens, as in keys that queries can name", quote(prefix))
	}
	r.prefix = prefix
	return nil
}

// Keep names the columns to keep that are no fields of a ticket.
func (r *Reader) Keep(columns Kept) { r.kept = columns }

// Projects yields the projects in file order. A bad row yields a *RowError and reading continues;
// any other error ends the pass. An export has no project rows: its projects come from its good
// tickets, each yielded once; Tickets reports the bad rows. All files are read, so that Tickets
// knows their people and the order in their dates.
func (r *Reader) Projects() iter.Seq2[Project, error] {
	return func(yield func(Project, error) bool) {
		seen := map[string]bool{}
		for t, err := range r.pass(slices.Concat(r.projects, r.tickets)) {
			if bad, is := errors.AsType[*RowError](err); is && !slices.ContainsFunc(r.projects, func(f file) bool { return f.path == bad.File }) ||
				err == nil && t.Key != "" && (r.projects != nil || seen[t.project.Key]) {
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
		if r.unclear[0] > 0 && r.Restricted == "" {
			yield(Project{}, fmt.Errorf("%w: they hold %d comments of %d tickets, and Jira's CSV (date;author;text) does not say who may see a comment, perhaps a role or group only: "+
				"--restricted %s imports them all, --restricted %s none of them; Jira's JSON says it of each", ErrFiles, r.unclear[0], r.unclear[1], Keep, Omit))
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
				yield(Ticket{}, fmt.Errorf("%w: read %s: %w", ErrFiles, f.path, whole(err)))
				return
			}
			r.close()
			r.done += f.size
		}
	}
}

func (r *Reader) nextTicket(path string, rows rows) (t Ticket, err error) {
	for t, err = rows.next(); err == errLeftOut; {
		t, err = rows.next()
	}
	if err != nil {
		return t, err
	}
	t.File = path
	if rows.names == nil { // a project
		if err := r.nameProject(&t.project.Key, ""); err != nil {
			return t, &RowError{File: t.File, Line: t.Line, Reason: err.Error()}
		}
		t.project.Key = r.prefix + t.project.Key
		return t, nil
	}
	if err := r.check(&t, rows.names); err != nil {
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
		warning.File, warning.Key = t.File, t.Key
	}
	return t, nil
}

// ErrFiles is returned for files that cannot be read to their end, or are not to be imported.
var ErrFiles = errors.New("the files cannot be imported")

// whole says of an error that the file ends too early.
func whole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it is cut off: %w", err)
	}
	return err
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
	if why := r.Incomplete(); why != "" {
		all = append(all, "the files are incomplete: "+why)
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
