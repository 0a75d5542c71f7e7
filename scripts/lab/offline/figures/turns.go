package figures

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Turn is an earlier turn of a conversation.
type Turn struct{ Role, Text string }

var (
	continues = regexp.MustCompile(`(?i)^\W*(?:and|or|but|what about|how about|also|then|only|just|now|same|ok|okay)\b`)
	refers    = phrase(`those|them|these|they|it|its|he|she|his|her|him|that one|that ticket|this ticket|which ones?|the same`)
	theTicket = phrase(`it|its|that one|that ticket|this ticket|the ticket`)
)

// followsUp reports whether a question cannot stand alone.
func followsUp(question string) bool {
	isShort := len(strings.Fields(question)) <= 4 && !noun.MatchString(question) && !key.MatchString(question)
	return continues.MatchString(question) || refers.MatchString(question) || isShort
}

// Thread returns the question with the earlier ones that it follows up, the first of them first,
// and the question as one that stands alone.
func Thread(question string, turns []Turn) (thread []string, alone string) {
	thread = []string{question}
	lastKey := ""
	for _, turn := range turns {
		if found := key.FindString(turn.Text); found != "" { // the first of an answer is the best
			lastKey = found
		}
	}
	for i := len(turns) - 1; i >= 0 && followsUp(thread[0]); i-- {
		if turns[i].Role == "user" {
			thread = slices.Insert(thread, 0, turns[i].Text)
		}
	}
	switch {
	case len(thread) == 1:
		return thread, question
	case lastKey != "" && theTicket.MatchString(question):
		return []string{question}, theTicket.ReplaceAllStringFunc(question, func(word string) string {
			if strings.EqualFold(word, "its") {
				return lastKey + "'s"
			}
			return lastKey
		})
	}
	return thread, thread[len(thread)-2] + " " + question
}

// mostRead is the length, in bytes, of the longest thread that is read: the time that it takes
// grows with the square, and who asks about fields is brief.
const mostRead = 1000

// Read reads a thread into a call. is is false if it asks what texts say, or more than the tool can
// tell.
func Read(thread []string, known Names, today time.Time) (call Call, is bool) {
	if len(strings.Join(thread, " ")) > mostRead || !slices.ContainsFunc(thread, hasCue) {
		return call, false
	}
	var whole *reader
	for i, question := range thread {
		prior := Goal{}
		if whole != nil {
			prior = whole.Goal
		}
		switch next := read(question, known, today, prior); {
		case i == 0 || next.Intent == prose:
			whole = next
		case whole.Intent == prose: // which tickets a text is about, no rule tells
			return call, false
		default:
			whole = whole.then(next)
		}
	}
	if whole.Intent == edge {
		whole.Intent = list
	}
	return whole.Call, whole.Intent != prose && len(whole.unread) == 0
}

// then is a reading with what a follow-up changes: its conditions take the place of those on the
// same field, and its words of the earlier ones.
func (q *reader) then(next *reader) *reader {
	named := map[string]bool{}
	for _, c := range next.Filters {
		named[c.Field] = true
	}
	for _, span := range next.Dates {
		named[span.Field] = true
	}
	if next.State != "any" {
		named["status"] = true
	} else if !named["status"] {
		next.State = q.State
	}
	earlier := slices.DeleteFunc(q.Filters, func(c Condition) bool { return named[c.Field] })
	next.Filters = append(earlier, next.Filters...)
	next.Dates = append(slices.DeleteFunc(q.Dates, func(span Span) bool { return named[span.Field] }), next.Dates...)
	if len(next.Words) == 0 {
		next.Words = q.Words
	}
	next.unread = slices.Concat(q.unread, next.unread)
	return next
}
