package ticketfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// jsonLines reads one JSON object a line.
type jsonLines struct {
	in   *stream
	line int // the number of the last line read
}

func newJSONRows(in *stream) rows {
	return rows{"jsonl", columns{"key": {"ticket_id"}, "project_key": {"project_id"}}, (&jsonLines{in: in}).next}
}

func (l *jsonLines) next() (Ticket, error) {
	var row struct {
		ID        Text `json:"ticket_id"`
		ProjectID Text `json:"project_id"`
		Ticket
	}
	if err := l.decode(&row); err != nil {
		return Ticket{}, err
	}
	t := row.Ticket
	t.Key, t.ProjectKey, t.Line = row.ID.Value, row.ProjectID.Value, l.line
	return t, nil
}

func (l *jsonLines) nextProject() (Ticket, error) {
	var row struct {
		ID Text `json:"project_id"`
		Project
	}
	err := l.decode(&row)
	if err != nil {
		return Ticket{}, err
	}
	p := row.Project
	if p.Key, err = checkKey("project_id", row.ID.Value); err == nil {
		p.Name, err = checkName("name", p.Name)
	}
	if err != nil {
		return Ticket{}, &RowError{Line: l.line, Reason: err.Error()}
	}
	p.Description = described(p.Description.Value)
	return Ticket{project: p}, nil
}

// decode reads the next line that is not blank.
func (l *jsonLines) decode(into any) error {
	for {
		l.in.startRow()
		line, err := l.in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return err
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("after line %d: %w", l.line, err)
		}
		l.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if line[0] != '{' {
			return &RowError{Line: l.line, Reason: "this is not a JSON object: it starts with " + quote(string(line[:min(len(line), 200)]))}
		}
		return decode(line, l.line, into)
	}
}

// decode decodes a JSON object. Its errors speak of the file, not of Go types.
func decode(object []byte, line int, into any) error {
	err := json.Unmarshal(object, into)
	if err == nil {
		return nil
	}
	reason := fmt.Sprintf("this is not a JSON object: %v", err)
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		want, known := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list", reflect.Int64: "a number"}[wrong.Type.Kind()]
		if !known {
			want = "an object"
		}
		field := strings.TrimPrefix(strings.TrimPrefix(wrong.Field, "Ticket."), "Project.") // which are embedded
		reason = fmt.Sprintf("%s must be %s, not %s", field, want, wrong.Value)
	}
	return &RowError{Line: line, Reason: reason}
}
