package ask

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"tasklens/internal/search"
)

// Message is an earlier turn of a conversation.
type Message struct {
	_ struct{} `schema:"Message"`

	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content" length:"8000"`
}

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
func Thread(question string, messages []Message) (thread []string, alone string) {
	thread = []string{question}
	lastKey := ""
	for _, message := range messages {
		if found := key.FindString(message.Content); found != "" { // the first of an answer is the best
			lastKey = found
		}
	}
	for i := len(messages) - 1; i >= 0 && followsUp(thread[0]); i-- {
		if messages[i].Role == "user" {
			thread = slices.Insert(thread, 0, strings.TrimSpace(messages[i].Content))
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

// MayBeAbout reports whether a thread may ask about fields: only then is anything looked up.
func MayBeAbout(thread []string) bool {
	return len(strings.Join(thread, " ")) <= mostRead && slices.ContainsFunc(thread, hasCue)
}

// Read reads a thread, in what the caller of the database may see. today is midnight in the
// caller's time zone. Where rules cannot place all of it, the model may; its reading is checked
// like anybody's search.
func Read(ctx context.Context, db search.Database, model Model, thread []string, today time.Time) (Reading, error) {
	r, err := byRules(ctx, db, thread, today)
	if err != nil || len(r.Unread) == 0 {
		return r, err
	}
	if other, is, err := byModel(ctx, db, model, thread, today); is || err != nil {
		return other, err
	}
	return r, nil
}

// then is a reading with what a follow-up changes: its filters take the place of those on the same
// field, and its words of the earlier ones.
func (r Reading) then(next Reading) Reading {
	if next.Filters.Open != nil {
		r.Filters.Statuses = nil
	} else if len(next.Filters.Statuses) > 0 {
		r.Filters.Open = nil
	}
	named, filters := next.Filters, r.Filters
	text, _ := json.Marshal(next.Filters)
	_ = json.Unmarshal(text, &filters) // a member that it has is replaced
	next.Filters = filters
	if len(next.Words) == 0 {
		next.Words = r.Words
	}
	for _, name := range r.Names {
		if isAnswered := !reflect.ValueOf(named.Member(name.Member).Value).Elem().IsZero(); !isAnswered {
			next.Names = append(next.Names, name)
		}
	}
	next.Unread = slices.Concat(r.Unread, next.Unread)
	return next
}
