package ticketfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxKey    = 255  // characters
	maxStatus = 100  // characters
	maxName   = 255  // characters of a person, a type, a priority or a label
	maxLabels = 100  // of a ticket
	maxLinks  = 1000 // of a ticket
)

// rawTicket is a row before it is checked: what either form says, in its own words.
type rawTicket struct {
	key, project, name, description, status, created string
	notes                                            []rawNote

	// nil where the form or the row does not have it
	updated, resolved, due, category         *string
	assignee, reporter, ticketType, priority *string
	labels                                   []string
	comments                                 []rawComment
	links                                    []Link
}

type rawComment struct {
	Key     string   `json:"key"`
	Author  string   `json:"author"`
	Body    jsonText `json:"body"`
	Created string   `json:"created_at"`
	Updated string   `json:"updated_at"`
}

type rawNote struct {
	Status  string   `json:"status"`
	Text    jsonText `json:"note"`
	Created string   `json:"created_at"`
}

// fieldNames are what a form calls its fields, for the reasons given to people who look at the file.
type fieldNames struct {
	key, project, name, status, created, updated, resolved, due, category string
	assignee, reporter, ticketType, priority, labels, comments, links     string
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
	checkComments(&t, raw.comments, names, at)
	checkLinks(&t, raw.links, names, at)
	return t, nil
}

// checkDetails adds what is optional. A ticket is good without it, so what is wrong is left out with a warning.
func checkDetails(t *Ticket, raw rawTicket, names fieldNames, at place) {
	warn := func(format string, args ...any) { t.Warnings = append(t.Warnings, at.wrong(format, args...)) }
	name := func(field string, given *string) *string {
		if given == nil {
			return nil
		}
		text := strings.TrimSpace(clean(*given))
		if utf8.RuneCountInString(text) > maxName {
			warn("%s is left out: it is longer than %d characters", field, maxName)
			return nil
		}
		return &text
	}
	date := func(field string, given *string) *time.Time {
		if given == nil {
			return nil
		}
		parsed, err := parseDate(*given)
		if err != nil {
			warn("%s is left out: %s %v", field, quote(*given), err)
			return nil
		}
		return &parsed
	}
	t.Assignee, t.Reporter = name(names.assignee, raw.assignee), name(names.reporter, raw.reporter)
	t.Type, t.Priority = name(names.ticketType, raw.ticketType), name(names.priority, raw.priority)
	t.ResolvedAt = date(names.resolved, raw.resolved)
	if updated := date(names.updated, raw.updated); updated != nil {
		t.UpdatedAt = *updated
	}
	if due := date(names.due, raw.due); due != nil {
		day := ""
		if !due.IsZero() {
			day = due.Format(time.DateOnly)
		}
		t.DueDate = &day
	}
	if raw.category != nil {
		category, known := statusCategories[strings.ToLower(strings.TrimSpace(*raw.category))]
		if !known {
			warn("%s is left out: %s is none of to_do, in_progress and done", names.category, quote(*raw.category))
		}
		t.StatusCategory = category
	}
	if raw.labels != nil {
		t.Labels = []string{}
		long := 0
		for _, label := range raw.labels {
			label = strings.TrimSpace(clean(label))
			switch {
			case utf8.RuneCountInString(label) > maxName || len(t.Labels) == maxLabels:
				long++
			case label != "" && !slices.Contains(t.Labels, label):
				t.Labels = append(t.Labels, label)
			}
		}
		if long > 0 {
			warn("%s left out because they are longer than %d characters or more than %d: %d", names.labels, maxName, maxLabels, long)
		}
	}
}

// statusCategories are the names of the forms, in lower case.
var statusCategories = map[string]string{
	"": "", "to_do": "to_do", "to do": "to_do", "new": "to_do", "in_progress": "in_progress", "in progress": "in_progress",
	"indeterminate": "in_progress", "done": "done", "complete": "done",
}

// checkComments adds the comments to t. One without a key is known again by its time and author, or without a time by its
// text, and by its place among those that share these.
func checkComments(t *Ticket, raw []rawComment, names fieldNames, at place) {
	if raw == nil {
		return
	}
	t.Comments = []Comment{}
	empty, undated := 0, 0
	seen := map[string]int{}
	for _, c := range raw {
		text := clean(string(c.Body))
		if strings.TrimSpace(text) == "" {
			empty++
			continue
		}
		created, createdErr := parseDate(c.Created)
		updated, updatedErr := parseDate(c.Updated)
		if createdErr != nil || updatedErr != nil {
			undated++
		}
		author := cut(strings.TrimSpace(clean(c.Author)), maxName)
		key := cut(strings.TrimSpace(clean(c.Key)), maxKey)
		switch {
		case key != "":
		case created.IsZero():
			key = fmt.Sprintf("%x", sha256.Sum256([]byte(author+"\n"+text)))[:32]
		default:
			key = cut(created.Format("2006-01-02T15:04:05Z")+" "+author, maxKey-10)
		}
		if seen[key]++; seen[key] > 1 {
			key = fmt.Sprintf("%s #%d", cut(key, maxKey-10), seen[key])
		}
		t.Comments = append(t.Comments, Comment{Key: key, Author: author, Text: text, CreatedAt: created, UpdatedAt: updated})
	}
	if empty > 0 {
		t.Warnings = append(t.Warnings, at.wrong("%s left out because they have no text: %d", names.comments, empty))
	}
	if undated > 0 {
		t.Warnings = append(t.Warnings, at.wrong("%s whose time is left out because it is not a clear date: %d", names.comments, undated))
	}
}

// checkLinks adds the links to t, each once.
func checkLinks(t *Ticket, raw []Link, names fieldNames, at place) {
	if raw == nil {
		return
	}
	t.Links = []Link{}
	bad := 0
	for _, link := range raw {
		link.From, link.To = strings.TrimSpace(clean(link.From)), strings.TrimSpace(clean(link.To))
		_, fromErr := checkKey("", link.From)
		_, toErr := checkKey("", link.To)
		known := slices.Contains([]string{Duplicates, Blocks, RelatesTo, ChildOf}, link.Kind)
		switch {
		case fromErr != nil || toErr != nil || !known || strings.EqualFold(link.From, link.To) || len(t.Links) == maxLinks:
			bad++
		case !slices.Contains(t.Links, link):
			t.Links = append(t.Links, link)
		}
	}
	if bad > 0 {
		t.Warnings = append(t.Warnings, at.wrong("%s left out because they name no other ticket, or no known kind of link, or are more than %d: %d", names.links, maxLinks, bad))
	}
}

// cut shortens s to so many characters.
func cut(s string, characters int) string {
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	return string([]rune(s)[:characters])
}

// checkNotes adds the notes to t. It warns once of each kind of defect, not once a note: a row may hold a million.
func checkNotes(t *Ticket, raw []rawNote, at place) error {
	empty, undated := 0, 0
	for _, n := range raw {
		text := clean(string(n.Text))
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
