package ticketfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// issues reads issues of Jira or GitHub in JSON, or pages of them: one after the other, or in
// arrays.
type issues struct {
	*format
	in      *stream
	json    *jsontext.Decoder
	reader  *Reader
	pending []gjson.Result          // issues that were read and not yet returned
	read    int                     // issues
	names   map[string]gjson.Result // of Jira's fields, if the file has them
	bare    int                     // issues without fields
}

var errNoIssues = errors.New("this is not an export of GitHub issues or Jira's JSON: its first object has neither number and title (gh issue list --json number,title,url,…) " +
	"nor key and fields, nor a list of issues; to import JSON Lines, pass their folder")

// newIssues reads the first object, which shows whose export it is. An empty array shows none.
func newIssues(in *stream, r *Reader) (rows, error) {
	s := &issues{in: in, reader: r, json: jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	first, err := s.nextObject()
	switch {
	case err == io.EOF && s.json.InputOffset() > 0:
		return rows{next: s.next}, nil
	case err == io.EOF:
		return rows{}, errors.New("the file is empty")
	case err != nil:
		return rows{}, err
	}
	at := slices.IndexFunc(formats, func(f *format) bool { return f.shows != nil && f.shows(first) })
	if at < 0 {
		return rows{}, errNoIssues
	}
	s.format = formats[at]
	s.addPage(first)
	return rows{format: s.format, next: s.next}, nil
}

// nextObject returns the next object of the arrays in the file, or of the file itself.
func (s *issues) nextObject() (gjson.Result, error) {
	s.in.startRow()
	for s.json.PeekKind() == '[' || s.json.PeekKind() == ']' {
		if _, err := s.json.ReadToken(); err != nil {
			return gjson.Result{}, err
		}
	}
	object, err := s.json.ReadValue()
	return gjson.ParseBytes(object), err
}

// addPage queues the issues of a page, or the issue itself.
func (s *issues) addPage(object gjson.Result) {
	issues := object.Get("issues")
	if !issues.IsArray() || s.format != &jira {
		s.pending = append(s.pending, object)
		return
	}
	s.pending = issues.Array()
	s.reader.pages.add(object, len(s.pending))
	if names := object.Get("names"); names.IsObject() {
		s.names = names.Map()
	}
}

func (s *issues) next() (Ticket, error) {
	for len(s.pending) == 0 {
		object, err := s.nextObject()
		switch {
		case err == io.EOF && s.bare > 0:
			reason := fmt.Sprintf("%d issues have no fields, but an id or a key only: ask Jira for fields=*all, since its search leaves them out otherwise", s.bare)
			s.bare = 0
			return Ticket{}, &RowError{Reason: reason}
		case errors.Is(err, io.ErrUnexpectedEOF):
			return Ticket{}, fmt.Errorf("after issue %d: %w", s.read, err)
		case err != nil:
			return Ticket{}, err
		}
		s.addPage(object)
	}
	issue := s.pending[0]
	s.pending = s.pending[1:]
	s.read++
	members := issue.Map()
	switch {
	case !issue.IsObject():
		return Ticket{}, &RowError{Line: s.read, Reason: "this is not a JSON object: it starts with " + quote(issue.Raw)}
	case CheckText(issue.Raw) != nil:
		return Ticket{}, &RowError{Line: s.read, Key: issue.Get("key").String(), Reason: CheckText(issue.Raw).Error()}
	case isPullRequest(issue):
		s.reader.notices["pull requests left out"]++
		return Ticket{}, errLeftOut
	case s.format == &jira:
		if members = jiraMembers(issue); members == nil {
			s.bare++
			return Ticket{}, errLeftOut
		}
	}
	return s.reader.objectRow(s.format, s.read, issue, members, func(name string) string { return cmp.Or(s.names[name].String(), jiraNames[name], name) }).ticket()
}

// objectRow returns the members of an object as a row, with the names that people see of those that
// no ticket has.
func (r *Reader) objectRow(f *format, place int, object gjson.Result, members map[string]gjson.Result, shown func(string) string) *row {
	row := &row{Reader: r, format: f, place: place, object: object, members: members, cells: map[string][]string{}, limit: audience.Of(true, "", object.Raw)}
	known := f.columns.folded()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		folded := fold(name)
		row.cells[folded] = r.valuesOf(members[name])
		if !known[folded] && !audience.Knows(name) {
			row.others = append(row.others, [2]string{shown(name), folded})
		}
		if name != shown(name) && (row.limit.Why == "" || row.limit.Doubt) {
			row.limit = cmp.Or(audience.Of(true, shown(name), members[name].Raw), row.limit)
		}
	}
	return row
}

// valuesOf returns the values in a field of an issue: of an object, such as a person, a status or
// an option, its name.
func (r *Reader) valuesOf(field gjson.Result) []string {
	values := []string{}
	switch text := field.String(); {
	case field.IsArray():
		for _, item := range field.Array() {
			if !item.IsArray() {
				values = append(values, r.valuesOf(item)...)
			}
		}
	case field.IsObject():
		name := ""
		for _, member := range []string{"displayName", "login", "value", "name", "key", "identifier"} {
			name = cmp.Or(name, field.Get(member).String())
		}
		for _, id := range []string{"accountId", "name", "key"} {
			r.people.add(field.Get(id).String(), field.Get("displayName").String())
		}
		if name = cmp.Or(name, text); name != "{}" {
			values = append(values, name)
		}
	case strings.TrimSpace(text) != "": // null has no text
		values = append(values, text)
	}
	return values
}

// valueOf returns the value in a field that has one.
func (r *Reader) valueOf(field gjson.Result) string { return strings.Join(r.valuesOf(field), "") }

// comments reads a list of comments in JSON, with their texts as Markdown.
func (r *row) comments(list gjson.Result, created, updated string, markdown func(string) string) []Comment {
	comments := []Comment{}
	for _, c := range list.Array() {
		limit := audience.Of(false, "", c.Raw)
		if limit.Why == "" { // of Jira's XML: the group
			limit = audience.Of(false, "grouplevel", c.Get("level").Raw)
		}
		if r.omits("comments", limit) {
			continue
		}
		body := c.Get("body")
		if !c.IsObject() {
			body = c // a text alone
		}
		comments = append(comments, Comment{Key: cmp.Or(c.Get("id").String(), c.Get("key").String()), Author: r.valueOf(c.Get("author")), Body: markdown(r.valueOf(body)),
			CreatedAt: c.Get(created).String(), UpdatedAt: c.Get(updated).String()})
	}
	return comments
}

func asIs(text string) string { return text }
