// Package extract is the offline chat model: it answers a question with the sentences of the given
// sources that fit best, verbatim and with citations. It does not know HTTP, nor any fact outside
// the prompt.
package extract

import (
	"html"
	"regexp"
	"strings"
	"time"
)

// A Prompt is the content of a user's message: the day, the sources, the turns before, and the
// question.
type Prompt struct {
	Today    time.Time // zero if it does not say
	Question string
	Turns    []Turn
	Sources  []Source
}

// A Turn is what the user or the assistant has said before.
type Turn struct{ Role, Text string }

// A Source is one fenced text.
type Source struct {
	ID      string // number to cite
	Ticket  string // key of the ticket; empty for other sources
	Key     string // key of the project, if the source is the project's own text
	Project string
	Status  string
	Title   string
	Fields  map[string]string // the other attributes of a ticket's source
	Text    string
}

var (
	firstFence = regexp.MustCompile(`(?m)^<(?:source|turn|question)-([0-9a-f]{12})[ >]`)
	today      = regexp.MustCompile(`^Today is \w+, (\d{4}-\d\d-\d\d)\.`)
	attribute  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	number     = regexp.MustCompile(`^[0-9]{1,6}$`)
)

const (
	maxSources  = 100
	maxText     = 64 << 10 // of one source; the rest is ignored
	maxQuestion = 4 << 10
	maxTurns    = 20
)

// ParsePrompt parses a user's message. The fence is the twelve hex digits of the first tag, before
// which there is no untrusted text. A text cannot contain these digits, so other tags are plain
// text. ok is false if the message has no fenced source.
func ParsePrompt(message string) (p Prompt, ok bool) {
	found := firstFence.FindStringSubmatchIndex(message)
	if found == nil {
		return Prompt{Question: clip(message, maxQuestion)}, false
	}
	if day := today.FindStringSubmatch(message); day != nil {
		p.Today, _ = time.Parse(time.DateOnly, day[1])
	}
	fence := message[found[2]:found[3]]
	open, shut := "<source-"+fence+" ", "</source-"+fence+">"
	rest := message[found[0]:]
	for len(p.Sources) < maxSources {
		start := tagAtLine(rest, open)
		if start < 0 {
			break
		}
		head, body, closed := strings.Cut(rest[start+len(open):], ">")
		if !closed {
			break
		}
		text, after, closed := strings.Cut(body, shut)
		if !closed {
			break
		}
		if s := newSource(head, text); s.ID != "" {
			p.Sources = append(p.Sources, s)
		}
		rest = after
	}
	for len(p.Turns) < maxTurns {
		_, after, is := strings.Cut(rest, "<turn-"+fence+` role="`)
		role, after, opened := strings.Cut(after, "\">\n")
		text, after, closed := strings.Cut(after, "\n</turn-"+fence+">")
		if !is || !opened || !closed {
			break
		}
		p.Turns, rest = append(p.Turns, Turn{role, text}), after
	}
	if _, question, closed := strings.Cut(rest, "<question-"+fence+">"); closed {
		question, _, _ = strings.Cut(question, "</question-"+fence+">")
		p.Question = clip(strings.TrimSpace(question), maxQuestion)
	}
	return p, len(p.Sources) > 0
}

// tagAtLine finds a tag at the start of a line.
func tagAtLine(text, tag string) int {
	if strings.HasPrefix(text, tag) {
		return 0
	}
	if i := strings.Index(text, "\n"+tag); i >= 0 {
		return i + 1
	}
	return -1
}

func newSource(head, text string) Source {
	s := Source{Text: strings.TrimSpace(clip(text, maxText)), Fields: map[string]string{}}
	for _, pair := range attribute.FindAllStringSubmatch(head, -1) {
		value := strings.TrimSpace(html.UnescapeString(pair[2]))
		switch pair[1] {
		case "id":
			if number.MatchString(value) {
				s.ID = value
			}
		case "ticket":
			s.Ticket = value
		case "key":
			s.Key = value
		case "project":
			s.Project = value
		case "status":
			s.Status = value
		case "title":
			s.Title = value
		default:
			s.Fields[pair[1]] = value
		}
	}
	return s
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
