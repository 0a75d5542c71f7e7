package ticketfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// objectRows reads JSON objects, each an issue or a page of them: one after the other, or in
// arrays.
type objectRows struct {
	in      *stream
	objects *json.Decoder
	arrays  bool              // whether the objects are in arrays
	inside  bool              // of one
	pending []json.RawMessage // issues that were read and not yet returned
	read    int               // issues
	reader  *Reader
	names   map[string]string // of Jira's fields, if the file has them
	isJira  bool
}

var errNoIssues = errors.New("this is not an export of GitHub issues or Jira's JSON: its first object has neither number and title (gh issue list --json number,title,url,…) " +
	"nor key and fields, nor a list of issues; to import JSON Lines, pass their folder")

// newObjectRows reads the first object, which shows the format. An empty file of arrays shows none.
func newObjectRows(in *stream, r *Reader) (rows, error) {
	head, _ := in.Peek(1 << 10)
	o := &objectRows{in: in, objects: json.NewDecoder(in), reader: r, arrays: bytes.HasPrefix(bytes.TrimSpace(head), []byte("["))}
	object, err := o.nextObject()
	if err == io.EOF && o.arrays {
		return rows{next: o.next}, nil
	}
	if err == io.EOF {
		err = errNoIssues
	}
	if err != nil {
		return rows{}, err
	}
	var first struct {
		Number int64
		Title  string
		Fields map[string]json.RawMessage
		Issues *[]json.RawMessage
	}
	if json.Unmarshal(object, &first) != nil || first.Fields == nil && first.Issues == nil && (first.Number == 0 || first.Title == "") {
		return rows{}, errNoIssues
	}
	if o.isJira = first.Fields != nil || first.Issues != nil; o.isJira {
		o.pending = o.issuesIn(object)
		return rows{"jira", jiraFields, o.next}, nil
	}
	o.pending = append(o.pending, object)
	return rows{"github", githubFields, o.next}, nil
}

// issuesIn returns the issues of a page, or the issue itself.
func (o *objectRows) issuesIn(object json.RawMessage) []json.RawMessage {
	var page struct {
		Issues *[]json.RawMessage
		Names  map[string]string
	}
	err := json.Unmarshal(object, &page)
	if page.Names != nil {
		o.names = page.Names
	}
	if err != nil || page.Issues == nil {
		return []json.RawMessage{object}
	}
	return *page.Issues
}

func (o *objectRows) next() (Ticket, error) {
	for {
		for len(o.pending) == 0 {
			object, err := o.nextObject()
			if err != nil {
				return Ticket{}, err
			}
			o.pending = append(o.pending, object)
			if o.isJira {
				o.pending = o.issuesIn(object)
			}
		}
		object := o.pending[0]
		o.pending = o.pending[1:]
		o.read++
		read := o.githubTicket
		if o.isJira {
			read = o.jiraTicket
		}
		t, err := read(object)
		if err == errPullRequest {
			continue
		}
		if t.Line = o.read; err != nil && !isRowError(err) {
			err = &RowError{Line: o.read, Key: t.Key, Reason: err.Error()}
		}
		return t, err
	}
}

// nextObject returns the next object of the arrays in the file, or of the file itself.
func (o *objectRows) nextObject() (object json.RawMessage, err error) {
	o.in.startRow()
	for o.arrays && !(o.inside && o.objects.More()) {
		token, err := o.objects.Token()
		if err == io.EOF && o.inside {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if o.inside = token == json.Delim('['); !o.inside && token != json.Delim(']') {
			return nil, fmt.Errorf("there is %v where an array of issues should start", token)
		}
	}
	err = o.objects.Decode(&object)
	return object, err
}
