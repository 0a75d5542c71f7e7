package ticketfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// lines are JSON Lines. Their members have the names of a ticket's, and the forms of Ticket.
var lines = format{name: "jsonl", columns: columnsOf(func(m member) string { return m.lines }), finish: (*row).finishLine}

// finishLine reads the lists of objects.
func (r *row) finishLine(t *Ticket) error {
	t.Description = r.document(t.Description)
	for _, n := range r.members["notes"].Array() {
		if r.omits("notes", audience.Of(false, "", n.Raw)) {
			continue
		}
		text := n.Get("note")
		if !n.IsObject() {
			text = n
		}
		t.Notes = append(t.Notes, Note{Status: n.Get("status").String(), Text: r.document(text.String()), CreatedAt: n.Get("created_at").String()})
	}
	r.keepOthers(t, nil)
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

func newLines(in *stream, r *Reader) rows {
	return rows{format: &lines, next: (&jsonLines{in: in, reader: r}).next}
}

func (l *jsonLines) next() (Ticket, error) {
	object, err := l.nextObject()
	if err != nil {
		return Ticket{}, err
	}
	all, wrong := object.Map(), []string{}
	for i, m := range members {
		value, form, is := all[m.lines], "list", false
		switch m.in(new(Ticket)).(type) {
		case *string, *Text:
			form, is = "text", !value.IsBool() && !value.IsArray() && (!value.IsObject() || (&row{Reader: l.reader}).document(value.Raw) != value.Raw)
		default:
			is = value.Type == gjson.Null || value.IsArray()
		}
		if is || m.lines == "" {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s must be a %s, not %s", m.lines, form, quote(value.Raw)))
		if i < requiredMembers {
			return Ticket{}, &RowError{Line: l.line, Key: all["ticket_id"].String(), Reason: wrong[len(wrong)-1]}
		}
		delete(all, m.lines)
	}
	t, err := l.reader.objectRow(&lines, l.line, object, all, asIs).ticket()
	for _, what := range wrong {
		t.warn("%s: it is left out", what)
	}
	return t, err
}

func (l *jsonLines) nextProject() (t Ticket, err error) {
	object, err := l.nextObject()
	if err != nil {
		return t, err
	}
	t.Line = l.line
	text := func(member string) string { return l.reader.valueOf(object.Get(member)) }
	if t.project.Key, err = checkKey("project_id", text("project_id")); err == nil {
		t.project.Name, err = checkName("name", text("name"))
	}
	t.project.Language = text("language")
	if t.project.Description = clean(text("description")); err != nil {
		return t, t.bad(err)
	}
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
		object, reason := gjson.ParseBytes(line), json.Unmarshal(line, new(json.RawMessage))
		switch {
		case reason == nil && object.IsObject():
			return object, nil
		case reason == nil:
			reason = fmt.Errorf("it starts with %s", quote(string(line[:min(len(line), 200)])))
		}
		return gjson.Result{}, &RowError{Line: l.line, Reason: fmt.Sprintf("this is not a JSON object: %v", reason)}
	}
}
