package answer

import (
	"regexp"
	"strings"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/turn"
)

// Message is an earlier turn of a conversation.
type Message struct {
	_ struct{} `schema:"Message"`

	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content" length:"8000"`
}

// earlierCharacters bounds what is taken of each turn, here and in the prompt.
const earlierCharacters = 1000

// ticketKey has a letter before the first hyphen, which a date has not.
var ticketKey = regexp.MustCompile(`\b[\pN_]*\pL[\pL\pN_]*(?:-[\pL\pN_]+)*-\d+\b`)

// Resolve finds out what texts are searched for by, and what day it is.
func (q *Question) Resolve(now time.Time) {
	if zone, err := time.LoadLocation(q.TimeZone); err == nil {
		now = now.In(zone)
	}
	q.Today = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	q.Search = searched(q.Text, q.Messages)
}

// searched is what texts are searched for by after some turns: by a turn that stands alone, itself;
// by one without words of its own, what the turn before was searched for by; else both. One that
// says "it" also refers to the first ticket of the last answer.
func searched(text string, before []Message) string {
	how, at := turn.Read(text), len(before)-1
	for at >= 0 && before[at].Role != "user" {
		at--
	}
	if at < 0 || how.Alone || ticketKey.MatchString(text) {
		return text
	}
	parts := []string{searched(beginning(before[at].Content), before[:at])}
	if said := beginning(before[len(before)-1].Content); at < len(before)-1 && (how.Points || how.HasWords) && ticketKey.MatchString(said) {
		parts = append(parts, ticketKey.FindString(said))
	}
	if how.HasWords {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// beginning returns what is taken of a turn.
func beginning(turn string) string {
	return strings.TrimSpace(clean.Clip(turn, earlierCharacters))
}
