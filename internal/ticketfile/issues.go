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
)

// issues reads issues of Jira or GitHub in JSON, or pages of them: one after the other, or in
// arrays.
type issues struct {
	*export
	in      *stream
	json    *jsontext.Decoder
	reader  *Reader
	pending []gjson.Result          // issues that were read and not yet returned
	read    int                     // issues
	known   map[string]bool         // the columns that members have
	names   map[string]gjson.Result // of Jira's fields, if the file has them
	bare    int                     // issues without fields
}

// jiraNames are those of fields on Jira's pages, which a search has with expand=names.
var jiraNames = map[string]string{"fixVersions": "Fix versions", "versions": "Affects versions", "resolution": "Resolution", "environment": "Environment"}

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
	case first.Get("fields").IsObject(), first.Get("issues").IsArray(), first.Get("id").Exists() && (first.Get("self").Exists() || first.Get("key").Exists() || len(first.Map()) == 1):
		s.export = &jiraIssues
	case first.Get("number").Int() > 0 && first.Get("title").Exists():
		s.export = &github
	default:
		return rows{}, errNoIssues
	}
	s.known = s.columns.folded()
	s.addPage(first)
	return rows{s.name, s.columns, s.next}, nil
}

// nextObject returns the next object of the arrays in the file, or of the file itself.
func (s *issues) nextObject() (gjson.Result, error) {
	s.in.startRow()
	for {
		switch s.json.PeekKind() {
		case '[', ']':
			if _, err := s.json.ReadToken(); err != nil {
				return gjson.Result{}, err
			}
		default:
			object, err := s.json.ReadValue()
			return gjson.ParseBytes(object), err
		}
	}
}

// addPage queues the issues of a page, or the issue itself.
func (s *issues) addPage(object gjson.Result) {
	issues := object.Get("issues")
	if !issues.IsArray() || s.export != &jiraIssues {
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
	switch fields := issue.Get("fields"); {
	case !issue.IsObject():
		return Ticket{}, &RowError{Line: s.read, Reason: "this is not a JSON object: it starts with " + quote(issue.Raw)}
	case CheckText(issue.Raw) != nil:
		return Ticket{}, &RowError{Line: s.read, Key: issue.Get("key").String(), Reason: CheckText(issue.Raw).Error()}
	case isPullRequest(issue):
		s.reader.notices["pull requests left out"]++
		return Ticket{}, errLeftOut
	case s.export == &jiraIssues && len(fields.Map()) == 0:
		s.bare++
		return Ticket{}, errLeftOut
	}
	return s.row(issue).ticket()
}

func (s *issues) row(issue gjson.Result) *row {
	if s.export != &jiraIssues {
		return s.reader.objectRow(s.export, s.read, issue, issue.Map())
	}
	fields := map[string]gjson.Result{
		"issuekey": issue.Get("key"), "projectkey": issue.Get("fields.project.key"), "statuscategory": issue.Get("fields.status.statusCategory.key"),
	}
	maps.Copy(fields, issue.Get("fields").Map())
	r := s.reader.objectRow(s.export, s.read, issue, fields)
	r.others = func(yield func(column string, values []string) bool) {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if shown := cmp.Or(s.names[name].String(), jiraNames[name], name); !s.known[fold(name)] && !yield(shown, r.cells(name)) {
				return
			}
		}
	}
	return r
}

// objectRow returns the members of an object as a row.
func (r *Reader) objectRow(e *export, place int, object gjson.Result, members map[string]gjson.Result) *row {
	cells := map[string][]string{}
	for name, value := range members {
		cells[fold(name)] = r.valuesOf(value)
	}
	return &row{Reader: r, export: e, place: place, object: object, members: members, cells: func(column string) []string { return cells[fold(column)] }}
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
		if r.omits("comments", r.restricted(c)) {
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
