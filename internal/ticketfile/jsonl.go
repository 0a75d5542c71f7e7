package ticketfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

var jsonNames = fieldNames{key: "ticket_id", project: "project_id", name: "name", status: "status", created: "created_at", updated: "updated_at",
	category: "status_category", labels: "labels", due: "due_date", resolved: "resolved_at", comments: "comments", links: "links",
	texts: textNames(func(f textField) string { return f.column })}

// jsonRows returns a function that decodes the next non-blank line. If decode fails, it returns a
// RowError with the file's name.
func jsonRows[T any](name string, from *bufio.Reader, decode func([]byte, place) (T, error)) func() (T, error) {
	lines := &lineReader{from: from, max: MaxRow}
	return func() (row T, err error) {
		for {
			line, err := lines.next()
			at := place{name, lines.line}
			if err == errTooLong {
				return row, at.wrong("%v", err)
			}
			if err != nil {
				return row, err
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if row, err = decode(line, at); err != nil {
				return row, at.wrong("%v", err)
			}
			return row, nil
		}
	}
}

func decodeProject(line []byte, _ place) (Project, error) {
	var row struct {
		ID          json.RawMessage `json:"project_id"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
	}
	if err := unmarshal(line, &row); err != nil {
		return Project{}, err
	}
	id, err := idText("project_id", row.ID)
	if err != nil {
		return Project{}, err
	}
	p := Project{Description: clean(row.Description)}
	if p.Key, err = checkKey("project_id", id); err != nil {
		return Project{}, err
	}
	if p.Name, err = checkName("name", row.Name); err != nil {
		return Project{}, err
	}
	return p, nil
}

func decodeTicket(line []byte, at place) (Ticket, error) {
	var row struct {
		ID          json.RawMessage `json:"ticket_id"`
		ProjectID   json.RawMessage `json:"project_id"`
		Name        string          `json:"name"`
		Description json.RawMessage `json:"description"`
		Status      string          `json:"status"`
		CreatedAt   string          `json:"created_at"`
		Notes       []jsonNote      `json:"notes"`
		UpdatedAt   json.RawMessage `json:"updated_at"`
		Category    json.RawMessage `json:"status_category"`
		DueDate     json.RawMessage `json:"due_date"`
		ResolvedAt  json.RawMessage `json:"resolved_at"`
		Labels      json.RawMessage `json:"labels"`
		Comments    json.RawMessage `json:"comments"`
		Links       json.RawMessage `json:"links"`
	}
	if err := unmarshal(line, &row); err != nil {
		return Ticket{}, err
	}
	raw := rawTicket{name: row.Name, status: row.Status, created: row.CreatedAt, texts: map[string]string{}}
	var err error
	if raw.key, err = idText(jsonNames.key, row.ID); err != nil {
		return Ticket{}, err
	}
	if raw.project, err = idText(jsonNames.project, row.ProjectID); err != nil {
		return Ticket{}, err
	}
	if raw.description, err = richText("description", row.Description); err != nil {
		return Ticket{}, err
	}
	for _, n := range row.Notes {
		note := rawNote{Status: n.Status, Created: n.Created}
		if note.Text, err = richText("notes.note", n.Text); err != nil {
			return Ticket{}, err
		}
		raw.notes = append(raw.notes, note)
	}
	var wrong []error // defects that do not reject the ticket
	text := func(name string, given json.RawMessage) *string {
		text := ""
		if given == nil {
			return nil
		}
		if json.Unmarshal(given, &text) != nil { // null gives ""
			wrong = append(wrong, fmt.Errorf("%s is left out: it must be a string, not %s", name, jsonKind(given)))
			return nil
		}
		return &text
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(line, &members) // an object, as was seen
	for _, field := range textFields {
		if given := text(field.column, memberOf(members, field.column)); given != nil {
			raw.texts[field.column] = *given
		}
	}
	raw.due, raw.resolved = text(jsonNames.due, row.DueDate), text(jsonNames.resolved, row.ResolvedAt)
	updated, category := text(jsonNames.updated, row.UpdatedAt), text(jsonNames.category, row.Category)
	if updated != nil {
		raw.updated = *updated
	}
	if category != nil {
		raw.category = *category
	}
	var badLabels, badComments, badLinks error
	raw.labels, badLabels = jsonLabels(row.Labels)
	raw.comments, badComments = jsonComments(row.Comments)
	raw.links, badLinks = jsonLinks(row.Links)
	ticket, err := checkTicket(raw, jsonNames, at)
	for _, err := range append(wrong, badLabels, badComments, badLinks) {
		if err != nil {
			ticket.Warnings = append(ticket.Warnings, at.wrong("%v", err))
		}
	}
	return ticket, err
}

// memberOf finds a member as encoding/json does: without regard to case.
func memberOf(object map[string]json.RawMessage, name string) json.RawMessage {
	for key, value := range object {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// unmarshal decodes one JSON object. Its errors speak of the file, not of Go types.
func unmarshal(line []byte, into any) error {
	if line[0] != '{' {
		return fmt.Errorf("the line is not a JSON object: it starts with %s", quote(string(line[:min(len(line), 200)])))
	}
	err := json.Unmarshal(line, into)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		if err != nil {
			return fmt.Errorf("the line is not a JSON object: %w", err)
		}
		return nil
	}
	want := "a string"
	if wrong.Type.Kind() != reflect.String {
		want = "a list of objects"
	}
	return fmt.Errorf("%s must be %s, not %s", wrong.Field, want, wrong.Value)
}

// idText returns an id as a key: a string unchanged, a whole number as its digits, "" if missing or
// null.
func idText(field string, raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case strings.Trim(string(raw), "0123456789") == "": // JSON allows no leading zero, so one number has one text
		return string(raw), nil
	}
	return "", fmt.Errorf("%s must be a string or a whole number", field)
}
