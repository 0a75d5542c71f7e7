package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// issues reads a tracker's issues in JSON, or pages of them: one after the other, or in arrays.
type issues struct {
	*tracker
	*reader
	in      *stream
	json    *jsontext.Decoder
	pending []gjson.Result // issues that were read and not yet returned
	read    int            // issues
	shown   members        // the names of fields, if the file has them
	bare    int            // issues without fields
}

// newIssues reads the first object, which shows whose export it is. An empty array shows none.
func newIssues(in *stream, r *reader) (rows, error) {
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
	at := slices.IndexFunc(trackers, func(t *tracker) bool { return t.shows != nil && t.shows(first) })
	if at < 0 {
		var known []string
		for _, t := range trackers {
			if t.shows != nil {
				known = append(known, t.first)
			}
		}
		return rows{}, fmt.Errorf("this is not an export of issues: its first object has neither %s; to import JSON Lines, pass their folder", strings.Join(known, ", nor "))
	}
	s.tracker = trackers[at]
	s.addPage(first)
	return rows{tracker: s.tracker, next: s.next}, nil
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

// jiraPages are the members of a page that are read, or tell nothing of its issues.
var jiraPages = treeOf("issues.* names.* schema.* expand startAt maxResults total isLast nextPageToken pageInfo.hasNextPage pageInfo.endCursor")

// addPage queues the issues of a page, or the issue itself.
func (s *issues) addPage(object gjson.Result) {
	list := object.Get("issues")
	if !list.IsArray() || s.tracker != &jira {
		s.pending = append(s.pending, object)
		return
	}
	s.pending = list.Array()
	s.pages.add(object, len(s.pending))
	jiraPages.others("", object, func(path string, _ gjson.Result) { s.unread[path]++ })
	if names := object.Get("names"); names.IsObject() {
		s.shown = names.Map()
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
	switch {
	case !issue.IsObject():
		return Ticket{}, &RowError{Line: s.read, Reason: "this is not a JSON object: it starts with " + quote(issue.Raw)}
	case CheckText(issue.Raw) != nil:
		return Ticket{}, &RowError{Line: s.read, Key: issue.Get("key").String(), Reason: CheckText(issue.Raw).Error()}
	}
	all := members(issue.Map())
	if s.object != nil {
		if all = s.object(s, issue); all == nil {
			return Ticket{}, errLeftOut
		}
	}
	return s.objectRow(s.tracker, s.read, issue, all, func(name string) string { return cmp.Or(s.shown[name].String(), s.names[name], name) }).ticket()
}
