package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// reader reads rows as the files have them, each file once, and collects what later rows are
// checked by.
type reader struct {
	files
	*tracker          // nil until a file shows it
	before   Manifest // of the folder, if Convert wrote it
	options  Options
	kept     Kept
	people   people            // a name may come after its id
	dates    map[string]*dates // by file
	notices  map[string]int    // remarks, and how often each is true; 0 of one that is not about rows
	unread   map[string]int    // rows with a value, by column
	named    map[string]bool   // columns that an option names and some file has
	sources  map[string]string // what a project's key stands for, by the key in capitals
	unclear  map[string]int    // texts of which the files do not say clearly who may read them
	pages    pages
}

func newReader(options Options) *reader {
	return &reader{options: options, kept: Kept{Text: strings.Split(options.Text, ","), Labels: strings.Split(options.Labels, ",")}, people: people{}, dates: map[string]*dates{},
		notices: map[string]int{}, unread: map[string]int{}, named: map[string]bool{}, sources: map[string]string{}, unclear: map[string]int{}, pages: pages{ends: map[int]int{}}}
}

// rows are the rows of a file in some format.
type rows struct {
	*tracker // nil if the rows are projects or documents, or there are none
	in       *stream
	// next returns a ticket, of which nothing is checked, a project or a document. A *RowError
	// concerns that row alone and needs no file; errLeftOut is a row that is counted; io.EOF is the
	// end; any other error is final.
	next func() (Ticket, error)
}

// read yields the rows of all files, one file after the other, until yield fails. A bad row is a
// *RowError, after which reading continues.
func (r *reader) read(yield func(Ticket, error) error) error {
	for i, path := range r.all() {
		if i == len(r.projects) { // tickets may have a project's key as it became
			clear(r.sources)
		}
		if err := r.readFile(path, yield); err != nil {
			return err
		}
	}
	if len(r.unclear) > 0 && r.options.Restricted == "" {
		return fmt.Errorf("%w: they do not say clearly who may read %s: --restricted %s imports them all, --restricted %s none of them",
			ErrFiles, counted(r.unclear), Keep, Omit)
	}
	return nil
}

func (r *reader) readFile(path string, yield func(Ticket, error) error) error {
	rows, err := r.start(path)
	if err != nil {
		return err
	}
	defer rows.in.Close()
	for {
		t, err := r.next(path, rows)
		_, isBad := errors.AsType[*RowError](err)
		switch {
		case err == io.EOF: // not errors.Is: a wrapped one is not the end
			return nil
		case err != nil && !isBad:
			return fmt.Errorf("%w: read %s: %w", ErrFiles, path, whole(err))
		}
		if err := yield(t, err); err != nil {
			return err
		}
	}
}

// next returns the next row that is not left out, with the keys that it gets.
func (r *reader) next(path string, rows rows) (t Ticket, err error) {
	for err = errLeftOut; err == errLeftOut; {
		t, err = rows.next()
	}
	t.File = path
	if bad, is := errors.AsType[*RowError](err); is {
		bad.File = path
	}
	isTicket := t.project.Key == "" && t.document == nil
	switch {
	case err != nil:
		return t, err
	case isTicket:
		err = r.checkNames(&t, rows.columns)
	case t.document == nil:
		err = r.nameProject(&t.project.Key, "")
	}
	switch {
	case err != nil:
		return t, t.bad(err)
	case t.document != nil:
		t.document.File = path
		return t, nil
	case isTicket:
		t.Key, t.ProjectKey = r.options.Prefix+t.Key, r.options.Prefix+t.ProjectKey
		t.project.Key = t.ProjectKey
		r.learnDates(&t)
	default:
		t.project.Key = r.options.Prefix + t.project.Key
	}
	var isCut bool
	p := &t.project
	p.File, p.Line = t.File, t.Line
	if p.Name, isCut = shorten(cmp.Or(strings.TrimSpace(clean(p.Name)), p.Key), maxName); isCut {
		p.Warning = &RowError{t.File, t.Line, p.Key, fmt.Sprintf("the project's name is cut to %d characters", maxName)}
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

// remarks are those about all files, such as ignored columns.
func (r *reader) remarks() (all []string) {
	for _, remark := range slices.Sorted(maps.Keys(r.notices)) {
		if count := r.notices[remark]; count > 0 {
			remark += fmt.Sprintf(": %d", count)
		}
		all = append(all, remark)
	}
	if why := r.pages.incomplete(); why != "" {
		all = append(all, "the files are incomplete: "+why)
	}
	if r.links != nil {
		all = append(all, r.links.String())
	}
	for option, names := range map[string]string{"--labels": r.options.Labels, "--text": strings.TrimPrefix(r.options.Text, DefaultText)} {
		for name := range strings.SplitSeq(names, ",") {
			if name != "" && !r.named[name] {
				all = append(all, fmt.Sprintf("%s %s keeps nothing: the files have no such column, or it has a field of its own", option, name))
			}
		}
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
