package ticketfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxKey    = 255 // characters
	maxStatus = 100 // characters
)

// rawTicket is a row before it is checked: what either form says, in its own words.
type rawTicket struct {
	key, project, name, description, status, created string
	notes                                            []rawNote
	updated, category                                string

	// nil where the row does not say.
	assignee, reporter, kind, priority, due, resolved *string
	labels                                            []string
	comments                                          []rawComment
	links                                             []Link
}

type rawNote struct{ Status, Text, Created string }

// fieldNames are what a form calls its fields, for the reasons given to people who look at the
// file.
type fieldNames struct {
	key, project, name, status, created                           string
	updated, category, assignee, reporter, kind, priority, labels string
	due, resolved, comments, links                                string
}

// checkTicket makes a ticket of raw, or says why it is none.
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

// checkNotes adds the notes to t. It warns once of each kind of defect, not once a note: a row may
// hold a million.
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
	case utf8.RuneCountInString(key) > maxKey:
		return "", fmt.Errorf("%s is longer than %d characters", field, maxKey)
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

// clean makes s a text that Postgres can hold: without U+0000, which it refuses, and valid UTF-8.
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
