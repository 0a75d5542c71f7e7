// Package ask reads questions about tickets' fields (how many, which, whose, since when) into the
// filters of a search and an intent, and has the database count, group and list what they match.
// Rules read the question; names are those that are stored. What no rule places is left unread, so
// that no number answers another question than the one that was asked.
//
// A question is read in steps, each of which cuts out what it places: what texts are about
// (words.go), dates (date.go), the intent (intent.go), states and stored values (value.go). What is
// left must be words of texts.
package ask

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/filter"
)

// Intent is what a question wants of the tickets that match.
type Intent string

// The intents. The zero value is a question about what texts say.
const (
	Prose   Intent = ""
	Count   Intent = "count"
	Group   Intent = "group"   // their numbers by the values of a field
	Extreme Intent = "extreme" // the first or last by a date
	List    Intent = "list"
)

// Goal is what is wanted of the tickets that match, as count_tickets and the model say it.
type Goal struct {
	Intent    Intent `json:"intent"`
	GroupBy   string `json:"group_by"`
	Period    string `json:"period"`
	Ranked    bool   `json:"-"`    // groups by their size
	Fewest    bool   `json:"-"`    // the smallest first
	Sort      string `json:"sort"` // created, updated, resolved or due
	Ascending bool   `json:"ascending"`
	Limit     int    `json:"-"` // of the tickets; 0 if the question does not say
}

// Reading is a question as it was read.
type Reading struct {
	Goal
	Filters filter.Members
	Words   []string           // each a word or phrase that a ticket's text must contain
	Unread  []string           // what no rule places
	Names   []filter.Candidate // that have no value, or several
}

// Text is what Words are as the text of a search.
func (r Reading) Text() string {
	quoted := make([]string, len(r.Words))
	for i, word := range r.Words {
		quoted[i] = strconv.Quote(word)
	}
	return strings.Join(quoted, " ")
}

// reader is a question that is being read. What was placed is cut out of rest and leaves a bar.
type reader struct {
	Reading
	exact, near *lookup
	rest        string
	today       time.Time // midnight in UTC of the day in zone
	zone        *time.Location
	prior       Goal // of the turn that this one follows up
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
func read(question string, exact, near *lookup, today time.Time, prior Goal) Reading {
	q := &reader{
		Reading: Reading{Goal: Goal{Period: "month", Sort: "created"}}, rest: sentence(question), prior: prior, exact: exact, near: near,
		today: time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC), zone: today.Location(),
	}
	q.subject()
	isNamed, isSingle := q.has(noun), q.has(noun) && !q.has(plural)
	q.Unread = misread.FindAllString(q.rest, -1)
	q.rest = misread.ReplaceAllString(q.rest, bar)
	q.dates()
	if q.aim(); q.Intent == Prose {
		return q.Reading
	}
	q.values()
	q.leftovers()
	beside := q.Filters // the project, which texts can be about, too
	beside.Projects = nil
	hasWords := len(q.Words) > 0
	switch isOfTickets := isNamed || prior.Intent != Prose; {
	case isOfTickets && q.Intent == List && hasWords && (isSingle || q.Filters.IsZero()):
		q.Intent = Prose // what a text says
	case !isOfTickets && (q.Intent == Count || q.Intent == List && (hasWords || beside.IsZero())):
		q.Intent = Prose // about something else
	}
	return q.Reading
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
