package ticketfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Reader reads the projects and tickets of one import. A pass may be aborted or repeated; there is
// one at a time.
type Reader struct {
	projects, tickets []string // paths; no projects for exports, which have no rows of projects
	links             Links
	format            *format
	prefix            string
	kept              Kept
	Restricted        string            // Keep or Omit what only some may see; "" omits it where the files tell
	people            people            // of all passes: a name may come after its id
	dates             map[string]*dates // of all passes, by file
	found             int               // good tickets of the last pass of Projects

	pass // the last one
}

// pass is what one pass over the files collects.
type pass struct {
	notices map[string]int    // remarks, and how often each is true; 0 of one that is not about rows
	unread  map[string]int    // rows with a value, by column
	sources map[string]string // what a project's key stands for, by the key in capitals
	pages   pages
	unclear map[string]int // texts of which the files do not say clearly who may read them
}

func newReader() *Reader {
	return &Reader{kept: Kept{Text: strings.Split(DefaultText, ",")}, people: people{}, dates: map[string]*dates{}, pass: newPass()}
}

func newPass() pass {
	return pass{notices: map[string]int{}, unread: map[string]int{}, sources: map[string]string{}, unclear: map[string]int{}, pages: pages{ends: map[int]int{}}}
}

// rows are the rows of a file in some format.
type rows struct {
	*format // nil if the rows are projects, or there are none
	in      *stream
	// next returns a ticket that is not yet checked, or a project. A *RowError concerns that row alone
	// and needs no file; errLeftOut is a row that is counted; io.EOF is the end; any other error is
	// final.
	next func() (Ticket, error)
}

// Format returns "jsonl", "jira", "linear" or "github".
func (r *Reader) Format() string { return r.format.name }

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
		r.found = 0
		seen := map[string]bool{}
		for t, err := range r.read(slices.Concat(r.projects, r.tickets)) {
			if _, isBad := errors.AsType[*RowError](err); (isBad || err == nil) && !slices.Contains(r.projects, t.File) {
				if err == nil {
					r.found++
				}
				if isBad || r.projects != nil || seen[t.project.Key] {
					continue
				}
			}
			seen[t.project.Key] = true
			if !yield(t.project, err) {
				return
			}
		}
		if len(r.unclear) > 0 && r.Restricted == "" {
			yield(Project{}, fmt.Errorf("%w: they do not say clearly who may read %s: --restricted %s imports them all, --restricted %s none of them",
				ErrFiles, counted(r.unclear), Keep, Omit))
		}
	}
}

// Len returns how many good tickets Projects found.
func (r *Reader) Len() int { return r.found }

// Tickets yields the tickets in file order. A bad row yields a *RowError and reading continues; any
// other error ends the pass. A repeated key is yielded again.
func (r *Reader) Tickets() iter.Seq2[Ticket, error] { return r.read(r.tickets) }

// read opens the files one after the other and yields their rows until the last file ends or an
// error other than a RowError.
func (r *Reader) read(paths []string) iter.Seq2[Ticket, error] {
	return func(yield func(Ticket, error) bool) {
		r.pass = newPass()
		for _, path := range paths {
			if err := r.readFile(path, yield); err != io.EOF { // not errors.Is: a wrapped one is not the end
				if err != nil {
					yield(Ticket{}, fmt.Errorf("%w: read %s: %w", ErrFiles, path, whole(err)))
				}
				return
			}
		}
	}
}

// readFile returns why the file ended, nil if nothing more is wanted.
func (r *Reader) readFile(path string, yield func(Ticket, error) bool) error {
	rows, err := r.start(path)
	if err != nil {
		return err
	}
	defer rows.in.Close()
	for {
		t, err := r.nextTicket(path, rows)
		if _, isBad := errors.AsType[*RowError](err); err != nil && !isBad {
			return err
		}
		if !yield(t, err) {
			return nil
		}
	}
}

func (r *Reader) nextTicket(path string, rows rows) (t Ticket, err error) {
	for err = errLeftOut; err == errLeftOut; {
		t, err = rows.next()
	}
	t.File = path
	if bad, is := errors.AsType[*RowError](err); is {
		bad.File = path
	}
	isProject := t.project.Key != ""
	switch {
	case err != nil:
		return t, err
	case isProject:
		err = r.nameProject(&t.project.Key, "")
	default:
		err = r.check(&t, rows.columns)
	}
	if err != nil {
		return t, t.bad(err)
	}
	if !isProject {
		t.Key, t.ProjectKey = r.prefix+t.Key, r.prefix+t.ProjectKey
		t.project.Key = t.ProjectKey
	} else {
		t.project.Key = r.prefix + t.project.Key
	}
	for i := range t.Links {
		t.Links[i].Key = r.prefix + t.Links[i].Key
	}
	for _, warning := range t.Warnings {
		warning.File, warning.Key = t.File, t.Key
	}
	var isCut bool
	if t.project.Name, isCut = shorten(cmp.Or(strings.TrimSpace(clean(t.project.Name)), t.project.Key), maxName); isCut {
		t.project.Warning = &RowError{t.File, t.Line, t.project.Key, fmt.Sprintf("the project's name is cut to %d characters", maxName)}
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
	if r.links != nil {
		all = append(all, r.links.String())
	}
	if len(r.unread) > 0 {
		all = append(all, "columns left out, with their number of rows: "+counted(r.unread))
	}
	return all
}

func counted(things map[string]int) string {
	var all []string
	for _, thing := range slices.Sorted(maps.Keys(things)) {
		all = append(all, fmt.Sprintf("%s (%d)", thing, things[thing]))
	}
	return strings.Join(all, ", ")
}
