package answer

import (
	"regexp"
	"strings"
	"time"

	"tasklens/internal/clean"
)

// Message is an earlier turn of a conversation.
type Message struct {
	_ struct{} `schema:"Message"`

	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content" length:"8000"`
}

const (
	// earlierQuestions is how many of the questions before it a question may refer to.
	earlierQuestions = 2
	// earlierCharacters bounds what is taken of each turn, here and in the prompt.
	earlierCharacters = 1000
)

// ticketKey has a letter before the first hyphen, which a date has not.
var ticketKey = regexp.MustCompile(`\b[\pN_]*\pL[\pL\pN_]*(?:-[\pL\pN_]+)*-\d+\b`)

// Resolve finds out what texts are searched for by, and what day it is. A question may refer to
// those before it and to the first ticket of the last answer; one that names a ticket by its key
// refers to that.
func (q *Question) Resolve(now time.Time) {
	if zone, err := time.LoadLocation(q.TimeZone); err == nil {
		now = now.In(zone)
	}
	q.Today = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	parts := []string{q.Text}
	if ticketKey.MatchString(q.Text) {
		q.Search = q.Text
		return
	}
	for i := len(q.Messages) - 1; i >= 0 && len(parts) <= earlierQuestions; i-- {
		switch said := beginning(q.Messages[i].Content); {
		case q.Messages[i].Role == "user":
			parts = append([]string{said}, parts...)
		case i == len(q.Messages)-1 && ticketKey.MatchString(said):
			parts = append([]string{ticketKey.FindString(said)}, parts...)
		}
	}
	q.Search = strings.Join(parts, "\n")
}

// beginning returns what is taken of a turn.
func beginning(turn string) string {
	return strings.TrimSpace(clean.Clip(turn, earlierCharacters))
}
