package eval

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/rpc"
	"tasklens/internal/search"
)

// FieldQuestion is a judged question about tickets' fields. now is when it is asked.
type FieldQuestion struct {
	ID           string           `json:"id"`
	Half         string           `json:"half"` // choose, or report
	Kind         string           `json:"kind"`
	Intent       string           `json:"intent"` // count, list, group, top, extreme, field, prose or cannot
	Now          time.Time        `json:"now"`
	TimeZone     string           `json:"time_zone"`
	Messages     []answer.Message `json:"messages"`
	Question     string           `json:"question"`
	Gold         []FieldGold      `json:"gold"` // any of these readings is right
	AllowAskBack bool             `json:"allow_ask_back"`
}

// FieldGold is what the database has, counted by SQL that was written by hand.
type FieldGold struct {
	Count  *int64   `json:"count"`
	Keys   []string `json:"keys"` // of all tickets, or of the one that is meant
	Groups [][2]any `json:"groups"`
	Value  string   `json:"value"`
}

// lowThreshold gives each question sources, whatever the model's scale.
const lowThreshold = 0.3

// The verdicts on an answer.
const (
	right  = "right"
	doubts = "asked back"
	prose  = "answered from texts"
	wrong  = "wrong"
)

// ReadFieldQuestions reads those of a folder.
func ReadFieldQuestions(folder string) ([]FieldQuestion, error) {
	return readQuestions(filepath.Join(folder, "asked_questions.jsonl"), true, func(q FieldQuestion) error {
		if q.Question == "" || q.Half != "choose" && q.Half != "report" {
			return fmt.Errorf("question %q of half %q", q.Question, q.Half)
		}
		return nil
	})
}

// FieldRates are how many questions got each verdict.
type FieldRates map[string]int

// CheckFields asks questions of one half. What is not right is shown if the half is to choose by.
func CheckFields(ctx context.Context, answerer *answer.Answerer, db rpc.Caller, embed func(text string) search.Embedding, questions []FieldQuestion, half string, show func(string)) (FieldRates, error) {
	rates := FieldRates{}
	for _, q := range questions {
		if q.Half != half {
			continue
		}
		asked := answer.Question{Text: q.Question, Messages: q.Messages, TimeZone: q.TimeZone, Corpus: answer.Tickets, TopK: 5, Lambda: 0.9, MatchThreshold: new(lowThreshold), Figures: true}
		asked.Resolve(q.Now)
		got, err := answerer.Answer(ctx, db, asked, embed(asked.Search), nil)
		if err != nil {
			return nil, fmt.Errorf("ask %q: %w", q.Question, err)
		}
		verdict := q.judge(got, asked.Search)
		rates[verdict]++
		if verdict != right && half == "choose" {
			show(fmt.Sprintf("%s: %s %q: %s", verdict, q.ID, q.Question, strings.ReplaceAll(got.Text, "\n", " | ")))
		}
	}
	return rates, nil
}

// Print writes a line for each verdict.
func (r FieldRates) Print(to io.Writer, half string) {
	total := r[right] + r[doubts] + r[prose] + r[wrong]
	for _, verdict := range []string{right, doubts, prose, wrong} {
		fmt.Fprintf(to, "questions about fields, half to %s by\t%s, of %d\t%d\n", half, verdict, total, r[verdict])
	}
}

func (q FieldQuestion) judge(got answer.Answer, alone string) string {
	switch {
	case got.ReadAs == nil: // the texts of a named ticket have its fields, too
		if q.Intent == "prose" || q.Intent == "cannot" || len(q.Gold) > 0 && len(q.Gold[0].Keys) == 1 && strings.Contains(alone, q.Gold[0].Keys[0]) {
			return right
		}
		return prose
	case got.Count == nil:
		if q.Intent == "cannot" || q.AllowAskBack {
			return right
		}
		return doubts
	case slices.ContainsFunc(q.Gold, func(gold FieldGold) bool { return q.agrees(gold, got) }):
		return right
	}
	return wrong
}

func (q FieldQuestion) agrees(gold FieldGold, got answer.Answer) bool {
	var keys []string
	for _, ticket := range got.Tickets {
		keys = append(keys, ticket.TicketKey)
	}
	isOther := func(key string) bool { return len(gold.Keys) > 0 && !slices.Contains(gold.Keys, key) }
	switch q.Intent {
	case "group", "top":
		return got.ReadAs.Intent == answer.Group && slices.Equal(groupsOf(gold, got, q.Intent == "top"))
	case "extreme", "field":
		return len(keys) > 0 && len(keys) <= len(gold.Keys) && !slices.ContainsFunc(keys, isOther)
	}
	return gold.Count != nil && *gold.Count == *got.Count && !slices.ContainsFunc(keys, isOther)
}

// groupsOf returns the wanted groups and those of an answer, as texts in one order; leading: of an
// answer the first ones that have a value, as many as wanted.
func groupsOf(gold FieldGold, got answer.Answer, leading bool) (want, have []string) {
	for _, group := range gold.Groups {
		want = append(want, fmt.Sprint(group[0], " ", group[1]))
	}
	for _, group := range got.Groups {
		label := "<nil>"
		if group.Label != nil {
			label = *group.Label
		}
		if !leading || group.Label != nil {
			have = append(have, fmt.Sprint(label, " ", group.Count))
		}
	}
	if leading {
		have = have[:min(len(have), len(want))]
	}
	slices.Sort(want)
	slices.Sort(have)
	return want, have
}
