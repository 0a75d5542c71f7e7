package ticketfile

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxValue  = 255 // characters of a person, type, priority or label, as in filters
	maxLabels = 100
)

// checkDetails adds a ticket's optional fields. An invalid one is dropped with a warning rather
// than rejecting the ticket.
func checkDetails(t *Ticket, raw rawTicket, names fieldNames, at place) {
	warn := func(format string, args ...any) { t.Warnings = append(t.Warnings, at.wrong(format, args...)) }
	date := func(name string, given *string) *time.Time {
		if given == nil {
			return nil
		}
		d, err := parseDate(*given)
		if err != nil {
			warn("%s is left out: %s %v", name, quote(*given), err)
			return nil
		}
		return &d
	}
	for _, field := range textFields {
		given, has := raw.texts[field.column]
		if !has {
			continue
		}
		text := oneLine(given)
		if utf8.RuneCountInString(text) > maxValue {
			warn("%s is left out: it is longer than %d characters", names.texts[field.column], maxValue)
			continue
		}
		if t.Texts == nil {
			t.Texts = map[string]string{}
		}
		t.Texts[field.column] = text
	}
	t.DueDate, t.ResolvedAt = date(names.due, raw.due), date(names.resolved, raw.resolved)
	if updated := date(names.updated, &raw.updated); updated != nil {
		t.UpdatedAt = *updated
	}
	var known bool
	if t.Category, known = category(raw.category); !known {
		warn("%s is left out: %s is none of to_do, in_progress and done", names.category, quote(raw.category))
	}
	var labelsLeft int
	if t.Labels, labelsLeft = checkLabels(raw.labels); labelsLeft > 0 {
		warn("%s left out because they are too long or more than %d: %d", names.labels, maxLabels, labelsLeft)
	}
	if err := checkComments(t, raw.comments, names, at); err != nil {
		warn("%v", err)
	}
	checkLinks(t, raw.links, names, at)
}

// oneLine trims a value and collapses its white space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(clean(s), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// category reads a status category in our spelling or Jira's. Jira's "No Category" means unknown.
func category(raw string) (string, bool) {
	switch strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(strings.TrimSpace(clean(raw)))) {
	case "", "nocategory", "undefined":
		return "", true
	case "todo", "new":
		return "to_do", true
	case "inprogress", "indeterminate":
		return "in_progress", true
	case "done", "complete", "completed":
		return "done", true
	}
	return "", false
}

// checkLabels drops blank and repeated labels, and counts the others that it drops.
func checkLabels(raw []string) (labels []string, left int) {
	if raw == nil {
		return nil, 0
	}
	labels = []string{}
	seen := map[string]bool{}
	for _, label := range raw {
		label = oneLine(label)
		folded := strings.ToLower(label)
		switch {
		case label == "" || seen[folded]:
		case utf8.RuneCountInString(label) > maxValue || len(labels) == maxLabels:
			left++
		default:
			seen[folded] = true
			labels = append(labels, label)
		}
	}
	return labels, left
}

func checkLinks(t *Ticket, raw []Link, names fieldNames, at place) {
	if raw == nil {
		return
	}
	t.Links = []Link{}
	left := 0
	seen := map[Link]bool{}
	for _, link := range raw {
		key, err := checkKey(names.links, link.Key)
		if err != nil || strings.EqualFold(key, t.Key) {
			left++
			continue
		}
		if link.Key = key; !seen[link] {
			seen[link] = true
			t.Links = append(t.Links, link)
		}
	}
	if left > 0 {
		t.Warnings = append(t.Warnings, at.wrong("%s left out because they name no other ticket: %d", names.links, left))
	}
}

// linkKinds maps the link names of files, in both directions.
var linkKinds = map[string]Link{
	"duplicates": {Kind: "duplicates"}, "duplicated_by": {Kind: "duplicates", Inward: true},
	"blocks": {Kind: "blocks"}, "blocked_by": {Kind: "blocks", Inward: true},
	"relates_to": {Kind: "relates_to"},
	"child_of":   {Kind: "child_of"}, "parent_of": {Kind: "child_of", Inward: true},
}

// listed splits a field that holds several values in one text.
func listed(s *string) []string {
	if s == nil {
		return nil
	}
	return strings.Split(*s, ",")
}

func missing(field string) error { return fmt.Errorf("%s is missing", field) }
