// Package figures is how the offline chat model decides to call a tool that counts, groups and
// lists tickets: rules read English questions about tickets' fields. What no rule places makes a
// question one about texts, so that no number answers another question than the one that was asked.
// It knows no stored names but those of the sources; a name is what stands where names stand.
//
// A question is read in steps, each of which cuts out what it places: what texts are about
// (words.go), dates (date.go), the intent (intent.go), states and names (value.go). What is left
// must be words of texts.
package figures

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The intents. The zero value is a question about what texts say.
const (
	prose = ""
	count = "count"
	group = "group"
	list  = "list"
	edge  = "extreme" // a list of the first or last by a date
)

// Goal is what is wanted of the tickets that match.
type Goal struct {
	Intent    string `json:"action"`
	GroupBy   string `json:"group_by"`
	Period    string `json:"period"`
	Sort      string `json:"sort"`
	Ascending bool   `json:"ascending"`
	Limit     int    `json:"limit"` // of the tickets; 0 if the question does not say
}

// Condition is a filter of the tool.
type Condition struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
	Not    bool     `json:"not"`
}

// Span is a range of days of the tool.
type Span struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Call are the arguments of the tool.
type Call struct {
	Goal
	State   string      `json:"state"` // any, open or done
	Words   []string    `json:"words"`
	Filters []Condition `json:"filters"`
	Dates   []Span      `json:"dates"`
}

// reader is a question that is being read. What was placed is cut out of rest and leaves a bar.
type reader struct {
	Call
	unread []string // what no rule places
	known  Names
	rest   string
	today  time.Time // midnight in UTC
	prior  Goal      // of the turn that this one follows up
	after  string    // what follows the tickets of a question without a verb: open bugs in Mobile App
}

const bar = " | "

func (q *reader) has(pattern *regexp.Regexp) bool { return pattern.MatchString(q.rest) }

func (q *reader) cut(start, end int) { q.rest = q.rest[:start] + bar + q.rest[end:] }

// take cuts the first match out of the question and returns its groups.
func (q *reader) take(pattern *regexp.Regexp) (groups []string) {
	at := pattern.FindStringSubmatchIndex(q.rest)
	if at == nil {
		return nil
	}
	for i := 0; i < len(at); i += 2 {
		groups = append(groups, q.rest[max(0, at[i]):max(0, at[i+1])])
	}
	q.cut(at[0], at[1])
	return groups
}

// phrase compiles a pattern of whole words in any case.
func phrase(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\b)(?:` + pattern + `)(?:\b|$)`)
}

// opening compiles a pattern of the first words.
func opening(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*(?:` + pattern + `)\b`)
}

// meant returns the name of the group that matches first in a text, or "".
func meant(words *regexp.Regexp, text string) string {
	m := words.FindStringSubmatch(text)
	for i, name := range words.SubexpNames() {
		if m != nil && name != "" && m[i] != "" {
			return name
		}
	}
	return ""
}

const (
	things  = `tickets?|issues?|(?:work )?items?|cards?|ones`
	tickets = things + `|bugs?|defects?|tasks?|stor(?:y|ies)|epics?|incidents?|improvements?|features?|requests?`
	one     = `a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,4}`
)

var (
	noun      = phrase(tickets)
	plural    = phrase(`tickets|issues|(?:work )?items|cards|ones|bugs|defects|tasks|stories|epics|incidents|improvements|features|requests`)
	quotation = regexp.MustCompile(`["“”„«»]([^"“”„«»]+)["“”„«»]`)
	key       = regexp.MustCompile(`\b\p{L}[\pL\pN_]*-\d+\b`)
)

var numbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}

// number reads digits or a word; 0 if it is none.
func number(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return numbers[strings.ToLower(text)]
}

// read reads one question; prior is what was wanted by the turn that it follows up.
func read(question string, known Names, today time.Time, prior Goal) *reader {
	q := &reader{
		Call: Call{Goal: Goal{Period: "month", Sort: "created"}, State: "any", Words: []string{}, Filters: []Condition{}, Dates: []Span{}},
		rest: sentence(question), prior: prior, known: known, today: time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC),
	}
	q.subject()
	isNamed, isSingle := q.has(noun), q.has(noun) && !q.has(plural)
	q.unread = misread.FindAllString(q.rest, -1)
	q.rest = misread.ReplaceAllString(q.rest, bar)
	q.dates()
	if q.aim(); q.Intent == prose {
		return q
	}
	q.values()
	q.leftovers()
	if len(q.Dates) > 0 && q.Intent == list {
		q.Sort = q.Dates[0].Field
	}
	isBare := q.State == "any" && len(q.Dates) == 0 && !slices.ContainsFunc(q.Filters, func(c Condition) bool { return c.Field != "project" })
	hasWords := len(q.Words) > 0
	switch isOfTickets := isNamed || prior.Intent != prose; {
	case isOfTickets && q.Intent == list && hasWords && (isSingle || isBare && len(q.Filters) == 0):
		q.Intent = prose // what a text says
	case !isOfTickets && (q.Intent == count || q.Intent == list && (hasWords || isBare)):
		q.Intent = prose // about something else
	}
	return q
}

// sentence returns the last sentence with a cue, without what is said around it.
func sentence(question string) string {
	question = strings.Join(strings.Fields(question), " ")
	question = severity.ReplaceAllString(recent.ReplaceAllString(question, "latest"), " $1")
	parts := strings.Split(aside.ReplaceAllString(ends.ReplaceAllString(question, "$1\n"), "\n$1"), "\n")
	for _, part := range slices.Backward(parts) {
		if hasCue(part) {
			return part
		}
	}
	return question
}

var (
	recent   = phrase(`most recent(?:ly)?`)
	severity = regexp.MustCompile(`(?i)-(prio(?:rity)?)\b`)
	ends     = regexp.MustCompile(`([\pL\pN)"][.?!;:]) `)
	aside    = regexp.MustCompile(`(?i)(?:,| -| –) ((?:i|we|so|because|since (?:i|we)|as (?:i|we)|please|thanks|thank|if|but)\b)`)
)
