// Package extract is the offline chat model: it answers a question with the sentences of the given
// sources that fit best, verbatim and with citations. It does not know HTTP, nor any fact outside
// the prompt.
package extract

import (
	"cmp"
	"html"
	"regexp"
	"strings"
	"time"

	"tasklens/scripts/lab/offline/figures"
)

// A Prompt is the content of a user's message: the day, the sources, the turns before, and the
// question.
type Prompt struct {
	Today    time.Time // zero if it does not say
	Question string
	Turns    []figures.Turn
	Sources  []Source

	AsksForTickets bool // which or how many: only a named ticket's source answers that
}

// A Source is one fenced text with its attributes: id, the number to cite, and of a ticket its key
// as ticket, project, status, title and other fields.
type Source struct {
	Fields map[string]string
	Text   string
}

// day is when the text was written; "" if it is unknown.
func (s Source) day() string {
	return cmp.Or(s.Fields["comment-date"], s.Fields["note-date"], s.Fields["changed"], s.Fields["created"])
}

var (
	firstFence = regexp.MustCompile(`(?m)^<(?:source|turn|question)-([0-9a-f]{12})[ >]`)
	today      = regexp.MustCompile(`^Today is \w+, (\d{4}-\d\d-\d\d)\.`)
	attribute  = regexp.MustCompile(`([a-z_-]+)="([^"]*)"`)
)

// ParsePrompt parses a user's message. The fence is the twelve hex digits of the first tag, before
// which there is no untrusted text. A text cannot contain these digits, so other tags are plain
// text.
func ParsePrompt(message string) (p Prompt) {
	found := firstFence.FindStringSubmatch(message)
	if found == nil {
		return Prompt{Question: message}
	}
	if day := today.FindStringSubmatch(message); day != nil {
		p.Today, _ = time.Parse(time.DateOnly, day[1])
	}
	tagged := func(name string) [][]string { // attributes and text
		return regexp.MustCompile(`(?s)<`+name+`-`+found[1]+`([^>]*)>(.*?)</`+name+`-`+found[1]+`>`).FindAllStringSubmatch(message, -1)
	}
	for _, m := range tagged("source") {
		s := Source{fields(m[1]), strings.TrimSpace(m[2])}
		if s.Fields["id"] != "" {
			p.Sources = append(p.Sources, s)
		}
	}
	for _, m := range tagged("turn") {
		p.Turns = append(p.Turns, figures.Turn{Role: fields(m[1])["role"], Text: strings.TrimSpace(m[2])})
	}
	for _, m := range tagged("question") {
		p.Question = strings.TrimSpace(m[2])
	}
	return p
}

// Names are the names in the sources, by field.
func (p Prompt) Names() figures.Names {
	names := figures.Names{}
	for _, s := range p.Sources {
		names["project"] = append(names["project"], s.Fields["project"], s.Fields["key"])
		names["label"] = append(names["label"], strings.Split(s.Fields["labels"], ", ")...)
		for _, field := range []string{"assignee", "reporter", "type", "priority", "status"} {
			names[field] = append(names[field], s.Fields[field])
		}
	}
	return names
}

func fields(head string) map[string]string {
	values := map[string]string{}
	for _, pair := range attribute.FindAllStringSubmatch(head, -1) {
		values[pair[1]] = strings.TrimSpace(html.UnescapeString(pair[2]))
	}
	return values
}
