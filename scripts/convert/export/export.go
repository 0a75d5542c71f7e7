// Package export converts projects, tickets and documents from files to JSON Lines, as
// docs/convert.md describes: exports of trackers, hand-written JSON Lines, and folders of Markdown.
// It owns these formats and what makes a row of them valid.
//
// A file is read once. Its rows wait in a file without a name until its end, since names of people
// and the order in dates may come after the rows that need them; then they are checked and written.
// Memory is bounded by [MaxRow], and by keys and the names of people. A bad row is reported with
// its file and line, and reading continues after it. Nothing is written of files that cannot be
// read to their end, or that do not say clearly who may read them.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options are those of a conversion.
type Options struct {
	Origin     string // the export that the files are a copy of; "" if the files or earlier imports tell
	Prefix     string // goes before all keys
	Text       string // columns to keep as text, with commas between them, such as DefaultText
	Labels     string // columns to keep as labels
	Language   string // of projects for which the files have none
	Restricted string // Keep or Omit what only some may see; "" omits it where the files tell
}

// check reports the first wrong option.
func (o Options) check() error {
	switch {
	case !slices.Contains([]string{"", Keep, Omit}, o.Restricted):
		return fmt.Errorf("--restricted is %s or %s, not %q", Keep, Omit, o.Restricted)
	case utf8.RuneCountInString(o.Origin) > MaxKey:
		return fmt.Errorf("--origin is longer than %d characters", MaxKey)
	case nameable(o.Prefix+"1") != o.Prefix+"1" || len(o.Prefix) > MaxKey:
		return fmt.Errorf("the prefix %s is not of letters, digits and hyphens, as in keys that queries can name", quote(o.Prefix))
	}
	return nil
}

// Manifest is the first line of a stream. It says what follows.
type Manifest struct {
	Format         string   `json:"format"`           // jira, linear, github, gitlab, jsonl or markdown
	Origin         string   `json:"origin"`           // "" if the files do not tell it
	OriginIsFolder bool     `json:"origin_is_folder"` // of documents: only by the folder's name
	Projects       int      `json:"projects"`         // rows
	Tickets        int      `json:"tickets"`
	Documents      int      `json:"documents"`
	Whole          bool     `json:"whole"`      // the rows are all that the export has, each once
	Incomplete     string   `json:"incomplete"` // what the files show that they lack
	LeftOut        int      `json:"left_out"`   // rows and files with mistakes
	Fields         int      `json:"fields"`     // that were cut or left out
	Repeated       int      `json:"repeated"`   // rows with the key of an earlier one, which they replace
	Restricted     string   `json:"restricted"` // as in Options
	Notices        []string `json:"notices,omitempty"`
	Paths          []string `json:"paths,omitempty"` // of all documents, also of those that cannot be read, without private ones
	Single         bool     `json:"single"`          // one file of a folder of documents
}

// Clean reports whether nothing is missing but what is left out on purpose.
func (m Manifest) Clean() bool { return m.LeftOut+m.Fields == 0 && m.Incomplete == "" }

// conversion is one call of Convert.
type conversion struct {
	*reader
	report
	Manifest

	projects []Project
	known    map[string]bool  // the keys of these
	rows     *spool           // final lines of tickets or documents
	seen     map[string]place // of each good ticket, by its key in capitals
}

// place is where a ticket is in the files, and its key there.
type place struct{ at, key string }

// Convert writes the files at these paths, or in folders there, as a stream of JSON Lines, and
// prints what is left out. Nothing is written if it returns an error, but for one of the writer.
func Convert(w, says io.Writer, options Options, paths ...string) (Manifest, error) {
	return convert(func(string) (io.WriteCloser, error) { return stays{w}, nil }, says, options, paths)
}

// stays is a writer that is not closed.
type stays struct{ io.Writer }

func (stays) Close() error { return nil }

func convert(open func(name string) (io.WriteCloser, error), says io.Writer, options Options, paths []string) (Manifest, error) {
	c := &conversion{reader: newReader(options), report: report{map[troubles]int{}, map[troubles][]error{}}, Manifest: Manifest{Restricted: options.Restricted}, known: map[string]bool{}, seen: map[string]place{}}
	err := c.convert(says, paths)
	c.print(says)
	c.Notices = append(c.Notices, c.remarks()...)
	for _, notice := range c.Notices {
		fmt.Fprintln(says, notice)
	}
	if c.rows != nil {
		defer c.rows.close()
	}
	if err == nil {
		err = c.write(open)
	}
	return c.Manifest, err
}

func (c *conversion) convert(says io.Writer, paths []string) (err error) {
	if err := c.options.check(); err != nil {
		return err
	}
	if c.rows, err = newSpool(); err != nil {
		return err
	}
	for _, path := range paths {
		found, err := openNotes(path)
		switch isImport := err == nil && found.isImport(path); {
		case err != nil:
			return err
		case isImport && (len(paths) > 1 || c.options.Prefix != ""):
			return errors.New("documents are imported from one path, without a prefix: they have no keys")
		case isImport:
			return c.convertNotes(found)
		case len(found.files) > 0:
			fmt.Fprintf(says, "%s: %d Markdown files beside the exports are left out (documents are imported from a path of their own)\n", path, len(found.files))
		}
	}
	if err := c.find(paths...); err != nil {
		return err
	}
	return c.convertTickets()
}

// convertNotes converts a folder of Markdown files.
func (c *conversion) convertNotes(n *notes) error {
	n.restricted = c.options.Restricted
	c.Format, c.Origin, c.OriginIsFolder = "markdown", cmp.Or(c.options.Origin, n.name), c.options.Origin == ""
	if err := n.all(func(d Document, bad error) error {
		for _, problem := range d.Problems {
			c.warn(&RowError{File: d.File, Reason: problem})
		}
		for _, name := range d.Unread {
			c.unread[name]++
		}
		if bad != nil {
			c.skip(bad)
			return nil
		}
		return c.rows.write(d)
	}); err != nil {
		return err
	}
	if n.links != nil {
		c.Notices = append(c.Notices, n.links.String())
	}
	c.Documents, c.Paths, c.Single, c.Whole = c.rows.rows, n.known, !n.isFolder, n.isFolder
	return nil
}

// convertTickets converts exports, or JSON Lines.
func (c *conversion) convertTickets() error {
	drafts, err := newSpool()
	if err != nil {
		return err
	}
	defer drafts.close()
	if err := c.read(func(t Ticket, bad error) error {
		isTicket := t.Key != ""
		switch {
		case bad != nil:
			c.skip(bad)
			return nil
		case t.document != nil:
			return c.rows.write(t.document)
		case !isTicket || !c.isLines() && !c.known[t.project.Key]:
			c.addProject(t.project)
		}
		if !isTicket {
			return nil
		}
		return drafts.write(draftOf(t))
	}); err != nil {
		return err
	}
	for i := range c.projects {
		c.describe(&c.projects[i])
	}
	written, err := drafts.rewind()
	if err != nil {
		return err
	}
	if err := eachDraft(written, func(t Ticket) error {
		if c.settle(&t); !c.accepts(t) {
			return nil
		}
		return c.rows.write(t)
	}); err != nil {
		return err
	}
	return c.sum()
}

func (c *conversion) addProject(p Project) {
	if p.Warning != nil {
		c.warn(p.Warning)
	}
	c.known[p.Key] = true
	p.Language = cmp.Or(p.Language, c.options.Language)
	c.projects = append(c.projects, p)
}

// accepts reports whether the ticket's project is there, and no other ticket has its key.
func (c *conversion) accepts(t Ticket) bool {
	bad := &RowError{File: t.File, Line: t.Line, Key: t.Key}
	if !c.known[t.ProjectKey] {
		bad.Reason = fmt.Sprintf("project %q is not among the projects", t.ProjectKey)
		c.skip(bad)
		return false
	}
	for _, warning := range t.Warnings {
		c.warn(warning)
	}
	here := place{fmt.Sprintf("%s:%d", t.File, t.Line), t.Written}
	key := strings.ToUpper(t.Key)
	switch first, again := c.seen[key]; {
	case again && first.key != here.key:
		bad.Reason = fmt.Sprintf("%q and %q, at %s, are the same key: one of them must become another", here.key, first.key, first.at)
		c.skip(bad)
		return false
	case again:
		c.Repeated++
		c.report.add(repeated, fmt.Errorf("%s: %s is at %s too; the last row counts", here.at, t.Key, first.at))
	}
	c.seen[key] = here
	return true
}

// sum completes the manifest.
func (c *conversion) sum() (err error) {
	before := c.before
	if c.tracker == nil { // an empty list
		c.tracker = &github
	}
	c.Format, c.Origin = cmp.Or(before.Format, c.name), cmp.Or(c.options.Origin, before.Origin)
	c.OriginIsFolder = before.OriginIsFolder && c.options.Origin == ""
	c.Manifest.Projects = len(c.projects)
	if c.documents != nil {
		c.Documents, c.Paths, c.Single = c.rows.rows, before.Paths, before.Single
	} else {
		c.Tickets = c.rows.rows
	}
	if c.Origin == "" {
		if c.Origin, err = originOf(c.projects); err != nil {
			return err
		}
	}
	if has, had := c.rows.rows+c.LeftOut, before.Tickets+before.Documents; has < had {
		return fmt.Errorf("%w: they hold %d rows, and their manifest says %d: they are cut off", ErrFiles, has, had)
	}
	c.Restricted, c.Incomplete = cmp.Or(c.options.Restricted, before.Restricted), cmp.Or(before.Incomplete, c.pages.incomplete())
	c.Whole = c.Tickets+c.Documents > 0 && c.LeftOut+c.Repeated == 0 && c.Incomplete == "" && (before.Format == "" || before.Whole)
	return nil
}

// originOf returns where the files say that they come from: a repository, or the owner of several.
// It is empty if the format does not say it.
func originOf(projects []Project) (origin string, err error) {
	for i, p := range projects {
		if i == 0 {
			origin = p.Origin
		}
		if owner := path.Dir(p.Origin); p.Origin != origin && owner != origin {
			if owner != path.Dir(origin) {
				return "", fmt.Errorf("the files hold repositories of several owners, %s and %s: give the import an origin", origin, p.Origin)
			}
			origin = owner
		}
	}
	return origin, nil
}

// skip reports and counts a bad row or file.
func (c *conversion) skip(err error) {
	c.LeftOut++
	c.report.add(leftOut, err)
}

// warn reports and counts a field that was cut or left out.
func (c *conversion) warn(about *RowError) {
	c.Fields++
	c.report.add(warning, about)
}
