package ticketfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"tasklens/internal/markup"
)

var jsonNames = fieldNames{
	key: "ticket_id", project: "project_id", name: "name", status: "status", created: "created_at", updated: "updated_at",
	resolved: "resolved_at", due: "due_date", category: "status_category", assignee: "assignee", reporter: "reporter",
	ticketType: "ticket_type", priority: "priority", labels: "labels", comments: "comments", links: "links",
}

// jsonRows returns a function that decodes the next line that is not blank. name is the file's, for
// the RowErrors that it makes of what decode objects to.
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
		Description jsonText        `json:"description"`
		Status      string          `json:"status"`
		CreatedAt   string          `json:"created_at"`
		Notes       []rawNote       `json:"notes"`

		// A field that is there and null says that there is none.
		UpdatedAt  *string             `json:"updated_at"`
		ResolvedAt given[string]       `json:"resolved_at"`
		DueDate    given[string]       `json:"due_date"`
		Category   *string             `json:"status_category"`
		Assignee   given[string]       `json:"assignee"`
		Reporter   given[string]       `json:"reporter"`
		Type       given[string]       `json:"ticket_type"`
		Priority   given[string]       `json:"priority"`
		Labels     given[[]string]     `json:"labels"`
		Comments   given[[]rawComment] `json:"comments"`
		Links      given[[]jsonLink]   `json:"links"`
	}
	if err := unmarshal(line, &row); err != nil {
		return Ticket{}, err
	}
	raw := rawTicket{
		name: row.Name, description: string(row.Description), status: row.Status, created: row.CreatedAt, notes: row.Notes,
		updated: row.UpdatedAt, resolved: row.ResolvedAt.value, due: row.DueDate.value, category: row.Category,
		assignee: row.Assignee.value, reporter: row.Reporter.value, ticketType: row.Type.value, priority: row.Priority.value,
		labels: list(row.Labels), comments: list(row.Comments),
	}
	var err error
	if raw.key, err = idText(jsonNames.key, row.ID); err != nil {
		return Ticket{}, err
	}
	if raw.project, err = idText(jsonNames.project, row.ProjectID); err != nil {
		return Ticket{}, err
	}
	if row.Links.value != nil {
		raw.links = []Link{}
		for _, link := range *row.Links.value {
			to, err := idText("links.ticket_id", link.To)
			if err != nil {
				return Ticket{}, err
			}
			raw.links = append(raw.links, Link{From: raw.key, Kind: link.Kind, To: to})
		}
	}
	return checkTicket(raw, jsonNames, at)
}

// jsonText is a string, or a document as Atlassian's APIs give it.
type jsonText string

func (t *jsonText) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		plain, err := markup.Document(text)
		*t = jsonText(plain)
		return err
	}
	return json.Unmarshal(text, (*string)(t))
}

type jsonLink struct {
	Kind string          `json:"kind"`
	To   json.RawMessage `json:"ticket_id"`
}

// given is a field that may be absent: then value is nil. Null is the zero value.
type given[T any] struct{ value *T }

func (g *given[T]) UnmarshalJSON(text []byte) error {
	g.value = new(T)
	return json.Unmarshal(text, g.value) // null leaves the zero value
}

// list is nil where the field is absent, and otherwise not.
func list[T any](field given[[]T]) []T {
	switch {
	case field.value == nil:
		return nil
	case *field.value == nil:
		return []T{}
	}
	return *field.value
}

// unmarshal decodes one JSON object and says what is wrong in the words of the file, not of Go.
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

// idText returns an id as a key: a string as it is, a whole number as its digits, "" where it is missing or null.
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
