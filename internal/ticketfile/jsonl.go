package ticketfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// lines are JSON Lines. Their members have the names of a ticket's, and the forms of Ticket.
var lines = export{"jsonl", columns{"key": {"ticket_id"}, "project_key": {"project_id"}}, (*row).finishLine}

// lineTexts and lineLists are the members of a line. The first three are required.
var (
	lineTexts = []string{"ticket_id", "project_id", "name", "description", "status", "status_category", "assignee", "reporter", "ticket_type", "priority",
		"due_date", "created_at", "updated_at", "resolved_at"}
	lineLists = []string{"labels", "notes", "comments", "links"}
)

// finishLine reads the lists of objects.
func (r *row) finishLine(t *Ticket) error {
	t.Description = r.document(t.Description)
	for _, n := range r.members["notes"].Array() {
		text := n.Get("note")
		if !n.IsObject() {
			text = n
		}
		t.Notes = append(t.Notes, Note{Status: n.Get("status").String(), Text: r.document(text.String()), CreatedAt: n.Get("created_at").String()})
	}
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		if !slices.Contains(lineTexts, name) && !slices.Contains(lineLists, name) && !saysWho(fold(name)) {
			r.keep(t, name, r.valuesOf(r.members[name]))
		}
	}
	if list := r.members["comments"]; list.Exists() {
		t.Comments = r.comments(list, "created_at", "updated_at", r.document)
	}
	if list := r.members["links"]; list.Exists() {
		t.Links = []Link{}
		for _, l := range list.Array() {
			t.Links = append(t.Links, Link{Kind: l.Get("kind").String(), Key: l.Get("key").String(), Inward: l.Get("inward").Bool()})
		}
	}
	return nil
}

// jsonLines reads one JSON object a line.
type jsonLines struct {
	in     *stream
	reader *Reader
	line   int // the number of the last line read
}

func newJSONRows(in *stream, r *Reader) rows {
	return rows{lines.name, lines.columns, (&jsonLines{in: in, reader: r}).next}
}

func (l *jsonLines) next() (Ticket, error) {
	object, err := l.nextObject()
	if err != nil {
		return Ticket{}, err
	}
	members, wrong := object.Map(), []string{}
	for i, member := range append(lineTexts, lineLists...) {
		value, form, is := members[member], "text", false
		if i < len(lineTexts) {
			is = !value.IsBool() && !value.IsArray() && (!value.IsObject() || (&row{Reader: l.reader}).document(value.Raw) != value.Raw)
		} else {
			form, is = "list", value.Type == gjson.Null || value.IsArray()
		}
		if is {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s must be a %s, not %s", member, form, quote(value.Raw)))
		if i < 3 {
			return Ticket{}, &RowError{Line: l.line, Key: members["ticket_id"].String(), Reason: wrong[len(wrong)-1]}
		}
		delete(members, member)
	}
	t, err := l.reader.objectRow(&lines, l.line, object, members).ticket()
	for _, what := range wrong {
		t.warn("%s: it is left out", what)
	}
	return t, err
}

func (l *jsonLines) nextProject() (t Ticket, err error) {
	object, err := l.nextObject()
	if err != nil {
		return Ticket{}, err
	}
	t.Line = l.line
	text := func(member string) string { return l.reader.valueOf(object.Get(member)) }
	if t.project.Key, err = checkKey("project_id", text("project_id")); err == nil {
		t.project.Name, err = checkName("name", text("name"))
	}
	if err != nil {
		return Ticket{}, &RowError{Line: l.line, Reason: err.Error()}
	}
	t.Line, t.project.Description = l.line, clean(text("description"))
	return t, nil
}

// nextObject reads the next line that is not blank.
func (l *jsonLines) nextObject() (gjson.Result, error) {
	for {
		l.in.startRow()
		line, err := l.in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return gjson.Result{}, err
		}
		if err != nil && err != io.EOF {
			return gjson.Result{}, fmt.Errorf("after line %d: %w", l.line, err)
		}
		l.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := CheckText(line); err != nil {
			return gjson.Result{}, &RowError{Line: l.line, Reason: err.Error()}
		}
		reason := json.Unmarshal(line, new(json.RawMessage))
		if object := gjson.ParseBytes(line); reason == nil && object.IsObject() {
			return object, nil
		}
		if reason == nil {
			reason = fmt.Errorf("it starts with %s", quote(string(line[:min(len(line), 200)])))
		}
		return gjson.Result{}, &RowError{Line: l.line, Reason: fmt.Sprintf("this is not a JSON object: %v", reason)}
	}
}
