package ticketfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKey is the longest key of a ticket, in characters, which the table allows too.
const MaxKey = 255

const maxStatus = 100 // characters

// rawTicket is a row before validation, with the field values of its format.
type rawTicket struct {
	key, project, name, description, status, created string
	notes                                            []rawNote
	updated, category                                string

	// Absent or nil if the row lacks the field.
	texts         map[string]string // by column
	due, resolved *string
	labels        []string
	comments      []rawComment
	links         []Link
}

type rawNote struct{ Status, Text, Created string }

// fieldNames are the names of a format's fields, for error messages.
type fieldNames struct {
	key, project, name, status, created                       string
	updated, category, labels, due, resolved, comments, links string
	texts                                                     map[string]string // by column
}

// checkTicket converts raw to a ticket, or returns why it is invalid.
func checkTicket(raw rawTicket, names fieldNames, at place) (Ticket, error) {
	t := Ticket{File: at.file, Line: at.line}
	var err error
	if t.Key, err = checkKey(names.key, raw.key); err != nil {
		return Ticket{}, err
	}
	if t.ProjectKey, err = checkKey(names.project, raw.project); err != nil {
		return Ticket{}, err
	}
	if t.Name, err = checkName(names.name, raw.name); err != nil {
		return Ticket{}, err
	}
	if t.Status, err = checkStatus(names.status, raw.status); err != nil {
		return Ticket{}, err
	}
	if t.Status == "" {
		t.Status = DefaultStatus
	}
	t.Description = clean(raw.description)
	created, err := parseDate(raw.created)
	if err != nil {
		t.Warnings = append(t.Warnings, at.wrong("%s is left out: %s %v", names.created, quote(raw.created), err))
	}
	t.CreatedAt = created
	if err := checkNotes(&t, raw.notes, at); err != nil {
		return Ticket{}, err
	}
	checkDetails(&t, raw, names, at)
	return t, nil
}

// checkNotes adds the notes to t. It warns once for each kind of defect: a row may have a million
// notes.
func checkNotes(t *Ticket, raw []rawNote, at place) error {
	empty, undated := 0, 0
	for _, n := range raw {
		text := clean(n.Text)
		if strings.TrimSpace(text) == "" {
			empty++
			continue
		}
		status, err := checkStatus("notes.status", n.Status)
		if err != nil {
			return err
		}
		created, err := parseDate(n.Created)
		if err != nil {
			undated++
		}
		t.Notes = append(t.Notes, Note{Status: status, Text: text, CreatedAt: created})
	}
	if empty > 0 {
		t.Warnings = append(t.Warnings, at.wrong("notes left out because they have no text: %d", empty))
	}
	if undated > 0 {
		t.Warnings = append(t.Warnings, at.wrong("notes.created_at left out because it is not a clear date: %d", undated))
	}
	return nil
}

func checkKey(field, raw string) (string, error) {
	key := strings.TrimSpace(clean(raw))
	switch {
	case key == "":
		return "", fmt.Errorf("%s is missing", field)
	case utf8.RuneCountInString(key) > MaxKey:
		return "", fmt.Errorf("%s is longer than %d characters", field, MaxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "", fmt.Errorf("%s %s has a space or control character in it", field, quote(key))
	}
	return key, nil
}

func checkName(field, raw string) (string, error) {
	name := strings.TrimSpace(clean(raw))
	if name == "" {
		return "", errors.New(field + " is missing")
	}
	return name, nil
}

func checkStatus(field, raw string) (string, error) {
	status := strings.TrimSpace(clean(raw))
	if utf8.RuneCountInString(status) > maxStatus {
		return "", fmt.Errorf("%s is longer than %d characters", field, maxStatus)
	}
	return status, nil
}

// clean makes s storable in Postgres: valid UTF-8 without U+0000.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// quote shows the beginning of a value on one line.
func quote(s string) string {
	const shown = 40
	n := 0
	for i := range s {
		if n++; n > shown {
			return fmt.Sprintf("%q…", s[:i])
		}
	}
	return fmt.Sprintf("%q", s)
}
