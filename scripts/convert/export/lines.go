package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// lines are JSON Lines: hand-written, or those that Convert writes. Their members have the names
// and forms of a Ticket's.
var lines = tracker{
	name: "jsonl", title: "JSON Lines",
	columns: columns{
		"key": {"ticket_id"}, "project_key": {"project_id"}, "name": {"name"}, "description": {"description"}, "status": {"status"},
		"status_category": {"status_category"}, "assignee": {"assignee"}, "reporter": {"reporter"}, "ticket_type": {"ticket_type"}, "priority": {"priority"},
		"labels": {"labels"}, "due_date": {"due_date"}, "created_at": {"created_at"}, "updated_at": {"updated_at"}, "resolved_at": {"resolved_at"},
		"source_id": {"source_id"}, "url": {"url"}, "notes": {"notes"}, "comments": {"comments"}, "links": {"links"},
	},
	inner: treeOf(`notes.note notes.status notes.created_at comments.key comments.id comments.author comments.body comments.created_at comments.updated_at comments.level
		links.kind links.key links.source_id links.inward`),
	markup: adfText,
	finish: (*row).finishLine,
}

// finishLine reads the lists of objects.
func (r *row) finishLine(t *Ticket) error {
	for _, n := range r.members["notes"].Array() {
		if r.omits("notes", audience.Of(false, "", n.Raw)) {
			continue
		}
		text := n.Get("note")
		if !n.IsObject() {
			text = n
		}
		t.Notes = append(t.Notes, Note{Status: n.Get("status").String(), Text: text.String(), CreatedAt: n.Get("created_at").String()})
	}
	r.keepOthers(t, nil)
	if list := r.members["comments"]; list.Exists() {
		t.Comments = r.comments(list, "created_at", "updated_at")
	}
	if list := r.members["links"]; list.Exists() {
		t.Links = []Link{}
		for _, l := range list.Array() {
			t.Links = append(t.Links, Link{l.Get("kind").String(), l.Get("key").String(), l.Get("source_id").String(), l.Get("inward").Bool()})
		}
	}
	return nil
}

// jsonLines reads one JSON object a line.
type jsonLines struct {
	in     *stream
	reader *reader
	line   int // the number of the last line read
}

func newLines(in *stream, r *reader) rows {
	return rows{tracker: &lines, next: (&jsonLines{in: in, reader: r}).next}
}

// required are the members without which a line is no ticket.
var required = []string{"ticket_id", "project_id", "name"}

func (l *jsonLines) next() (Ticket, error) {
	object, err := l.nextObject()
	if err != nil {
		return Ticket{}, err
	}
	all, wrong := object.Map(), []string{}
	check := func(name, form string, is bool) error {
		if is {
			return nil
		}
		wrong = append(wrong, fmt.Sprintf("%s must be a %s, not %s", name, form, quote(all[name].Raw)))
		if slices.Contains(required, name) {
			return &RowError{Line: l.line, Key: all["ticket_id"].String(), Reason: wrong[len(wrong)-1]}
		}
		delete(all, name)
		return nil
	}
	for _, f := range fields {
		name, value := lines.columns.of(f.name), all[lines.columns.of(f.name)]
		if _, isList := f.in(new(Ticket)).(*[]string); isList {
			err = check(name, "list", isListOrNull(value))
		} else {
			err = check(name, "text", !value.IsBool() && !value.IsArray() && (!value.IsObject() || adfText(value.Raw, nil) != value.Raw))
		}
		if err != nil {
			return Ticket{}, err
		}
	}
	for _, name := range []string{"notes", "comments", "links"} {
		_ = check(name, "list", isListOrNull(all[name])) // none is required
	}
	if l.reader.before.Format != "" { // which says where the row was before
		delete(all, "file")
		delete(all, "line")
	}
	t, err := l.reader.objectRow(&lines, l.line, object, all, asIs).ticket()
	for _, what := range wrong {
		t.warn("%s: it is left out", what)
	}
	return t, err
}

func isListOrNull(value gjson.Result) bool { return value.Type == gjson.Null || value.IsArray() }

func asIs(text string) string { return text }

func (l *jsonLines) nextProject() (t Ticket, err error) {
	object, err := l.nextObject()
	if err != nil {
		return t, err
	}
	t.Line = l.line
	text := func(member string) string { return l.reader.valueOf(object.Get(member)) }
	l.countOthers("projects", object, projectParts)
	if t.project.Key, err = checkKey("project_id", text("project_id")); err == nil {
		t.project.Name, err = checkName("name", text("name"))
	}
	t.project.Language = text("language")
	if t.project.Description = clean(text("description")); err != nil {
		return t, t.bad(err)
	}
	return t, nil
}

var (
	projectParts  = treeOf("project_id name description language file line")
	documentParts = treeOf("path title content keywords temporal_class created_at file line")
)

// countOthers counts what a line has that is not read.
func (l *jsonLines) countOthers(kind string, object gjson.Result, parts tree) {
	seen := map[string]bool{}
	parts.others(kind, object, func(path string, _ gjson.Result) {
		if !seen[path] {
			seen[path] = true
			l.reader.unread[path]++
		}
	})
}

// nextDocument reads what Convert wrote of a document.
func (l *jsonLines) nextDocument() (t Ticket, err error) {
	object, err := l.nextObject()
	if err != nil {
		return t, err
	}
	t.Line = l.line
	if l.reader.omits("documents", audience.Of(false, "", object.Raw)) {
		return t, errLeftOut
	}
	l.countOthers("documents", object, documentParts)
	d := Document{Line: l.line}
	if err := json.Unmarshal([]byte(object.Raw), &d); err != nil {
		return t, t.bad(err)
	}
	if d.Path, err = checkKey("path", d.Path); err != nil {
		return t, t.bad(err)
	}
	d.Content = clean(d.Content)
	d.CreatedAt, _ = ParseDate(d.CreatedAt)
	if d.Title = shortLine(d.Title, maxTitle); d.Title == "" {
		d.Title = titleOfPath(d.Path)
	}
	t.document = &d
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
