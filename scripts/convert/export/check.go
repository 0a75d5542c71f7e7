package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKey is the longest key of a ticket, in characters, which the table allows too.
const MaxKey = 255

// In characters, within what the tables allow. What is longer is cut, with a warning.
const (
	maxName   = 1000 // of a ticket, project, person or value
	maxStatus = 100
	maxLabels = 100
	allLabels = 20_000 // of all labels of a ticket
)

// checkNames gives a ticket its keys and name, or returns why its row is bad.
func (r *reader) checkNames(t *Ticket, names columns) (err error) {
	if t.Key, err = checkKey(names.of("key"), t.Key); err != nil {
		return err
	}
	if t.ProjectKey, err = checkKey(names.of("project_key"), t.ProjectKey); err != nil {
		return err
	}
	if err := r.nameKeys(t, names); err != nil {
		return err
	}
	t.Name, err = checkName(names.of("name"), t.Name)
	return err
}

// learnDates reads what a ticket's dates show of the order in those of its file.
func (r *reader) learnDates(t *Ticket) {
	if r.dates[t.File] == nil {
		r.dates[t.File] = new(dates)
	}
	learn := func(all ...*string) {
		for _, date := range all {
			*date = r.dates[t.File].learn(*date)
		}
	}
	learn(&t.CreatedAt, &t.UpdatedAt, &t.DueDate.Value, &t.ResolvedAt.Value)
	for i := range t.Notes {
		learn(&t.Notes[i].CreatedAt)
	}
	for i := range t.Comments {
		learn(&t.Comments[i].CreatedAt, &t.Comments[i].UpdatedAt)
	}
}

// settle brings a ticket into the form that Ticket promises, now that the names of people and the
// order in dates are known. An optional field that is wrong is left out with a warning.
func (r *reader) settle(t *Ticket) {
	names, dates := r.columns, r.dates[t.File]
	r.convertTexts(t)
	t.Name = t.cut(names.of("name"), t.Name, maxName)
	t.Status = t.cut(names.of("status"), cmp.Or(strings.TrimSpace(clean(t.Status)), DefaultStatus), maxStatus)
	for _, f := range fields {
		if field, is := f.in(t).(*Text); is {
			field.Value = oneLine(field.Value)
			if f.name == "assignee" || f.name == "reporter" {
				field.Value = r.people.name(field.Value)
			}
			field.Value = t.cut(names.of(f.name), field.Value, maxName)
		}
	}
	r.checkDates(t, names, dates)
	r.checkNotes(t, dates)
	if category, known := categories[fold(t.Category)]; known {
		t.Category = category
	} else {
		t.warn("%s is left out: %s is none of to_do, in_progress and done", names.of("status_category"), quote(t.Category))
		t.Category = ""
	}
	t.checkLabels(names.of("labels"))
	r.checkComments(t, names.of("comments"), dates)
	t.checkLinks(names.of("links"))
	for i := range t.Links {
		if t.Links[i].Key != "" {
			t.Links[i].Key = r.options.Prefix + t.Links[i].Key
		}
	}
	t.checkSource(names)
	for _, what := range slices.Sorted(maps.Keys(t.counts)) {
		t.warn("%s: %d", what, t.counts[what])
	}
	for _, warning := range t.Warnings {
		warning.File, warning.Key = t.File, t.Key
	}
}

// convertTexts makes Markdown of texts in the tracker's markup. Lines of other columns follow the
// description, after a blank line.
func (r *reader) convertTexts(t *Ticket) {
	if markup := r.markup; markup != nil && r.before.Format == "" { // Convert wrote Markdown
		t.Description = markup(t.Description, r.people)
		for i := range t.Notes {
			t.Notes[i].Text = markup(t.Notes[i].Text, r.people)
		}
		for i := range t.Comments {
			t.Comments[i].Body = markup(t.Comments[i].Body, r.people)
		}
	}
	for i, line := range t.kept {
		text := line.Name + jiraText(line.Text, r.people)
		if i == 0 && t.Description != "" {
			text = "\n" + text
		}
		t.Description = strings.TrimPrefix(t.Description+"\n"+text, "\n")
	}
	t.Description = clean(t.Description)
}

// describe makes Markdown of a project's description, now that the names of people are known.
func (r *reader) describe(p *Project) {
	if r.tracker != nil && r.markup != nil && !r.isLines() {
		p.Description = r.markup(p.Description, r.people)
	}
	p.Description = clean(p.Description)
}

// maxURL is the longest address of a page, in characters.
const maxURL = 1000

// checkSource drops an id or an address that is none.
func (t *Ticket) checkSource(names columns) {
	id := oneLine(t.SourceID)
	if t.SourceID = id; utf8.RuneCountInString(id) > MaxKey {
		t.warn("%s is left out: it is longer than %d characters", names.of("source_id"), MaxKey)
		t.SourceID = ""
	}
	t.URL = strings.TrimSpace(clean(t.URL))
	at, err := url.Parse(t.URL)
	if t.URL != "" && (err != nil || at.Host == "" || at.User != nil || at.Scheme != "http" && at.Scheme != "https" || utf8.RuneCountInString(t.URL) > maxURL) {
		t.warn("%s is left out: it is no address of at most %d characters with http or https, and without a name or password", names.of("url"), maxURL)
		t.URL = ""
	}
}

const noText = "comments and notes left out because they have no text"

// categories maps the spellings of a status category, ours and Jira's, to ours.
var categories = map[string]string{
	"": "", "nocategory": "", "undefined": "", "todo": "to_do", "new": "to_do",
	"inprogress": "in_progress", "indeterminate": "in_progress", "done": "done", "complete": "done", "completed": "done",
}

// checkDates reads the dates. One of creation that is not there, or cannot be read, is never that
// of the import without a word.
func (r *reader) checkDates(t *Ticket, names columns, dates *dates) {
	date := func(member, written string) (string, bool) {
		date, err := dates.parse(written)
		if err != nil {
			t.warn("%s is left out: %s %v", names.of(member), quote(written), err)
		}
		return date, err == nil
	}
	t.CreatedAt, _ = date("created_at", t.CreatedAt)
	t.UpdatedAt, _ = date("updated_at", t.UpdatedAt)
	for member, field := range map[string]*Text{"due_date": &t.DueDate, "resolved_at": &t.ResolvedAt} {
		var is bool
		if field.Value, is = date(member, field.Value); !is {
			*field = Text{} // the stored one stays
		}
	}
	if t.CreatedAt == "" {
		const remark = "tickets without a creation date that can be read: new ones get "
		switch t.CreatedAt = cmp.Or(t.UpdatedAt, t.ResolvedAt.Value); t.CreatedAt {
		case "":
			r.notices[remark+"the day of the import"]++
		case t.UpdatedAt:
			r.notices[remark+"that of their update"]++
		default:
			r.notices[remark+"that of their resolution"]++
		}
	}
}

func (r *reader) checkNotes(t *Ticket, dates *dates) {
	var kept []Note
	for _, note := range t.Notes {
		if note.Text = clean(note.Text); strings.TrimSpace(note.Text) == "" {
			r.notices[noText]++
			continue
		}
		note.Status = t.cut("notes.status", strings.TrimSpace(clean(note.Status)), maxStatus)
		created, err := dates.parse(note.CreatedAt)
		if err != nil {
			t.count("notes.created_at is not a clear date, so that the ticket's counts")
			created = t.CreatedAt
		}
		note.CreatedAt = created
		kept = append(kept, note)
	}
	t.Notes = kept
}

// checkLabels drops blank, repeated and too many labels.
func (t *Ticket) checkLabels(name string) {
	kept, all, seen := t.Labels[:0], 0, map[string]bool{}
	for _, label := range t.Labels {
		label = t.cut(name, oneLine(label), maxName)
		folded, size := strings.ToLower(label), utf8.RuneCountInString(label)
		switch {
		case label == "" || seen[folded]:
		case len(kept) == maxLabels || all+size > allLabels:
			t.count(fmt.Sprintf("%s left out because they are more than %d, or more than %d characters in all", name, maxLabels, allLabels))
		default:
			seen[folded], all = true, all+size
			kept = append(kept, label)
		}
	}
	t.Labels = kept
}

func (r *reader) checkComments(t *Ticket, name string, dates *dates) {
	kept := t.Comments[:0]
	order := map[string]int{} // numbers comments with the same author and time
	for _, c := range t.Comments {
		created, err := dates.parse(c.CreatedAt)
		updated, errUpdated := dates.parse(c.UpdatedAt)
		if err != nil || errUpdated != nil {
			t.count(name + " with a time that is not a clear date, so that their other one or the ticket's counts")
		}
		c.Author, c.Body = oneLine(c.Author), strings.TrimSpace(clean(c.Body))
		if key, err := checkKey("", c.Key); err == nil && utf8.RuneCountInString(key) <= MaxKey {
			c.Key = key
		} else { // by the author as the file has it, since names come later
			c.Key = madeKey(cmp.Or(created, strings.TrimSpace(c.CreatedAt)), c.Author, order)
		}
		if c.Author = r.people.name(c.Author); accountID.MatchString(c.Author) {
			r.notices["comments whose author has only an id in the files"]++
		}
		c.Author = t.cut("comments.author", c.Author, maxName)
		if err != nil {
			created = cmp.Or(updated, t.CreatedAt)
		}
		if c.CreatedAt, c.UpdatedAt = created, updated; c.Body != "" {
			kept = append(kept, c)
		} else {
			r.notices[noText]++
		}
	}
	t.Comments = kept
}

// madeKey names a comment that has no id. It does not depend on the text, so that an edited comment
// keeps its key.
func madeKey(when, author string, order map[string]int) string {
	by := when + "\x00" + author
	order[by]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", by, order[by]))
	return "made-" + hex.EncodeToString(sum[:12])
}

// kinds maps the kinds of links in files to ours; inward ones are read from the other end.
var kinds = map[string]Link{
	"duplicates": {Kind: "duplicates"}, "duplicated_by": {Kind: "duplicates", Inward: true},
	"blocks": {Kind: "blocks"}, "blocked_by": {Kind: "blocks", Inward: true},
	"relates_to": {Kind: "relates_to"},
	"child_of":   {Kind: "child_of"}, "parent_of": {Kind: "child_of", Inward: true},
}

func (t *Ticket) checkLinks(name string) {
	kept := t.Links[:0]
	for _, link := range t.Links {
		kind, known := kinds[strings.ToLower(strings.TrimSpace(link.Kind))]
		link.Key, link.SourceID = strings.TrimSpace(clean(link.Key)), oneLine(link.SourceID)
		if known && link.Key+link.SourceID != "" {
			kept = append(kept, Link{kind.Kind, link.Key, link.SourceID, link.Inward != kind.Inward})
		} else {
			t.count(name + " left out because they have an unknown kind or no key")
		}
	}
	t.Links = kept
}

func checkKey(field, raw string) (string, error) {
	switch key := strings.TrimSpace(clean(raw)); {
	case key == "":
		return "", errors.New(field + " is missing")
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r == '\uFFFD' }):
		return "", fmt.Errorf("%s %s has a control character in it", field, quote(key))
	default:
		return key, nil
	}
}

func checkName(field, raw string) (string, error) {
	name := strings.TrimSpace(clean(raw))
	if name == "" {
		return "", errors.New(field + " is missing")
	}
	return name, nil
}

// shorten cuts a text to so many characters, and reports whether it did.
func shorten(text string, most int) (string, bool) {
	if utf8.RuneCountInString(text) <= most {
		return text, false
	}
	return strings.TrimSpace(string([]rune(text)[:most])), true
}

// cut shortens a text, and warns of it.
func (t *Ticket) cut(name, text string, most int) string {
	text, isCut := shorten(text, most)
	if isCut {
		t.count(fmt.Sprintf("%s cut to %d characters", name, most))
	}
	return text
}

// clean makes s storable in Postgres: valid UTF-8 without U+0000.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// oneLine trims a value and collapses its white space.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(clean(s), isSpace), " ") }

func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// quote shows the beginning of a value on one line.
func quote(s string) string {
	const shown = 40
	if runes := []rune(s[:min(len(s), 4*shown+4)]); len(runes) > shown {
		return fmt.Sprintf("%q…", string(runes[:shown]))
	}
	return fmt.Sprintf("%q", s)
}
