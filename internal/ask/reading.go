// Package ask reads questions about tickets' fields (how many, which, whose, since when) into the
// filters of a search and an intent, and has the database count, group and list what they match.
// Rules read the question; names are those that are stored. What no rule places is left unread, so
// that no number answers another question than the one that was asked.
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

// Reading is a question as it was read.
type Reading struct {
	Intent    Intent
	Filters   filter.Members
	Words     []string // each a word or phrase that a ticket's text must contain
	GroupBy   string   // as count_tickets takes it
	Period    string
	Ranked    bool   // groups by their size
	Fewest    bool   // the smallest first
	Sort      string // created, updated, resolved or due
	Ascending bool
	Limit     int      // of the tickets that are wanted; 0 if the question does not say
	Unread    []string // what no rule places
	Names     []Name   // that have no value, or several
}

// Name is a name in a question that is not exactly a stored value, and what it can mean.
type Name struct {
	Member, Text string
	Values       []string // at most six
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
	values  *values
	rest    string
	today   time.Time // the day in zone
	zone    *time.Location
	isNamed bool // it has a word for tickets
	dated   string
	prior   Intent // of the turn that this one follows up
}

const bar = " | "

// take cuts the first match out of the question and returns its groups.
func (q *reader) take(pattern *regexp.Regexp) []string {
	at := pattern.FindStringSubmatchIndex(q.rest)
	if at == nil {
		return nil
	}
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = q.rest[at[2*i]:at[2*i+1]]
		}
	}
	q.rest = q.rest[:at[0]] + bar + q.rest[at[1]:]
	return groups
}

func (q *reader) has(pattern *regexp.Regexp) bool { return pattern.MatchString(q.rest) }

// phrase compiles a pattern of whole words in any case.
func phrase(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\b)(?:` + pattern + `)(?:\b|$)`)
}

const (
	tickets = `tickets?|issues?|(?:work )?items?|cards?|ones|bugs?|defects?|tasks?|stor(?:y|ies)|epics?|incidents?|improvements?|features?|requests?`
	people  = `assignees?|people|persons?|engineers?|developers?|owners?|team members?`
	fields  = people + `|reporters?|authors?|creators?|status(?:es)?|states?|columns?|projects?|labels?|tags?|(?:ticket |issue )?types?|kinds?|priorit(?:y|ies)|severit(?:y|ies)|days?|weeks?|months?|quarters?|years?`
	one     = `a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,4}`
)

var (
	quotation = regexp.MustCompile(`["“”„«»]([^"“”„«»]+)["“”„«»]`)
	key       = regexp.MustCompile(`\b\p{L}[\pL\pN_]*-\d+\b`)
	noun      = phrase(tickets)
	plural    = phrase(`tickets|issues|(?:work )?items|cards|ones|bugs|defects|tasks|stories|epics|incidents|improvements|features|requests`)

	howMany  = phrase(`how many|(?:what(?:'s|’s| is| was) )?(?:the )?(?:total )?(?:number|count) of|count(?: up)?(?: (?:all|the|of|my|our))*`)
	each     = phrase(`(?:per|by|(?:for|in|by|of|on) (?:each|every)|each|across) (?:the |all |our )*(` + fields + `)`)
	ofField  = phrase(`(?:which|what) (` + fields + `)`)
	who      = phrase(`who(?:m|se)?`)
	most     = phrase(`(?:the )?(most|fewest|least|busiest|highest number of|lowest number of|largest number of|smallest number of)(?: common(?:ly)?| frequent(?:ly)?| often| used| active)?`)
	extreme  = phrase(`(?:(created|opened|reported|filed|updated|changed|modified|touched|closed|resolved|fixed|completed) )?(?:the )?(?:(` + one + `) )?(oldest|newest|latest|earliest|first|last|longest)(?: (` + one + `))?(?: (created|opened|reported|filed|updated|changed|modified|touched|closed|resolved|fixed|completed))?`)
	soonest  = phrase(`(?:due (?:next|soonest|first|earliest)|next (?:to be )?due)`)
	show     = regexp.MustCompile(`(?i)^\W*(?:(?:please|can|could|would|you|now|ok|and) )*(?:show|list|find|give|get|display)\b(?: me| us)?`)
	bare     = regexp.MustCompile(`(?i)^\W*(?:[^\s?]+ ){0,4}(?:` + tickets + `)\b`)
	asks     = phrase(`why|how|where|when|does|do|did|is|are|was|were|can|could|should|would|will|has|have`)
	which    = phrase(`which|what|whose|are there|is there|(?:do|did) (?:we|you|they) have|any`)
	isWhat   = regexp.MustCompile(`(?i)^\W*(?:what(?:'s|’s| is| are| was| were| has| have| did| changed| happened| got| else)|who(?:'s|’s| is)|(?:is|are|was|were|do we have|is there) any(?:thing)?|which (?:are|ones?|of|were))\b`)
	reported = phrase(`report(?:s|ed|ing)?|creat(?:e|es|ed|ing)|fil(?:e|es|ed|ing)|rais(?:e|es|ed|ing)|submit(?:s|ted|ting)?|opened|open(?:s|ing)? the|wrote|logged`)
)

// hasCue reports whether a question may be about fields. Only then is anything looked up.
func hasCue(question string) bool {
	q := reader{rest: question}
	if key.MatchString(question) {
		return false // the named ticket is a source, with its fields
	}
	counts := q.has(howMany) || q.has(each) || (q.has(ofField) || q.has(who)) && q.has(most)
	return counts || q.has(isWhat) || q.has(noun) && (q.has(extreme) || q.has(soonest) || q.has(show) || q.has(which) || q.has(bare) && !q.has(asks))
}

// read reads one question; prior is the intent of the turn that it follows up.
func read(question string, v *values, today time.Time, prior Intent) Reading {
	q := &reader{
		values: v, rest: sentence(question), zone: today.Location(), prior: prior,
		today:   time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC),
		Reading: Reading{Period: "month", Sort: "created"},
	}
	for m := q.take(quotation); m != nil; m = q.take(quotation) {
		q.Words = append(q.Words, m[1])
	}
	q.about()
	q.isNamed = q.has(noun)
	isSingle := q.isNamed && !q.has(plural)
	q.dates()
	if q.aim(); q.Intent == Prose {
		return q.Reading
	}
	q.read()
	q.leftovers()
	onlyProject := q.Filters
	onlyProject.Projects = nil
	switch hasWords := len(q.Words) > 0; {
	case q.isNamed || prior != Prose:
		if q.Intent == List && hasWords && (isSingle || q.Filters.IsZero()) {
			q.Intent = Prose // what a text says
		}
	case q.Intent == Count || q.Intent == List && (hasWords || onlyProject.IsZero()):
		q.Intent = Prose // about something else
	}
	return q.Reading
}

// sentence returns the last sentence with a cue, without what is said around it.
func sentence(question string) string {
	question = strings.Join(strings.Fields(question), " ")
	for _, usual := range usually {
		question = usual.pattern.ReplaceAllString(question, usual.form)
	}
	parts := strings.Split(aside.ReplaceAllString(ends.ReplaceAllString(question, "$1\n"), "\n$1"), "\n")
	for _, part := range slices.Backward(parts) {
		if hasCue(part) {
			return part
		}
	}
	return question
}

// usually brings phrases into the form that the patterns know.
var usually = []struct {
	pattern *regexp.Regexp
	form    string
}{{phrase(`most recent(?:ly)?`), "latest"}, {regexp.MustCompile(`(?i)-(prio(?:rity)?)\b`), " $1"}}

var (
	ends  = regexp.MustCompile(`([\pL\pN)"][.?!;:]) `)
	aside = regexp.MustCompile(`(?i)(?:,| -| –) ((?:i|we|so|because|since (?:i|we)|as (?:i|we)|please|thanks|thank|if|but)\b)`)
)

// aim finds out what is wanted.
func (q *reader) aim() {
	switch groups := q.take(each); {
	case groups != nil:
		q.group(groups[1])
	case q.has(ofField) && q.has(most):
		q.group(q.take(ofField)[1])
	case q.has(who) && q.has(most):
		q.take(who)
		q.group("assignee")
		if q.has(reported) {
			q.GroupBy = "reporter"
		}
	}
	if q.Intent == Group {
		q.take(howMany)
		m := q.take(most)
		q.Ranked = m != nil
		q.Fewest = m != nil && slices.Contains([]string{"fewest", "least", "lowest number of", "smallest number of"}, strings.ToLower(m[1]))
		return
	}
	if q.take(howMany) != nil {
		q.Intent = Count
		return
	}
	if q.take(soonest) != nil {
		q.Intent, q.Sort, q.Ascending, q.Limit = Extreme, "due", true, 1
		return
	}
	if m := extreme.FindStringSubmatch(q.rest); m != nil && (q.isNamed || q.prior != Prose) {
		q.take(extreme)
		first := slices.Contains([]string{"oldest", "earliest", "first", "longest"}, strings.ToLower(m[3]))
		q.Intent, q.Ascending, q.Limit = Extreme, first, 1
		if n := count(m[2] + m[4]); n > 0 {
			q.Limit = n
		}
		if member := memberOf(m[1] + m[5]); member != "" {
			q.Sort = member
		}
		return
	}
	if q.take(show) != nil || q.has(which) || q.has(isWhat) || q.prior == Prose && q.has(bare) && !q.has(asks) {
		q.Intent = List
		return
	}
	q.Intent = q.prior
}

// facets are those of a search by what a question calls them.
var facets = []struct {
	pattern *regexp.Regexp
	facet   string
}{
	{phrase(people), "assignee"}, {phrase(`reporters?|authors?|creators?`), "reporter"}, {phrase(`status(es)?|states?|columns?`), "status"},
	{phrase(`projects?`), "project"}, {phrase(`labels?|tags?`), "label"}, {phrase(`types?|kinds?`), "type"}, {phrase(`priority|priorities|severity|severities`), "priority"},
}

// group sets the field by whose values tickets are counted.
func (q *reader) group(field string) {
	q.Intent = Group
	field = strings.ToLower(field)
	for _, of := range facets {
		if of.pattern.MatchString(field) {
			q.GroupBy = of.facet
			return
		}
	}
	q.Period, q.GroupBy = strings.TrimSuffix(field, "s"), "created"
	if member := memberOf(verbs.FindString(q.rest)); member != "" {
		q.GroupBy = member
	}
}

// count reads a number in digits or words; 0 if it is none.
func count(text string) int {
	words := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "", "twelve"}
	text = strings.ToLower(text)
	if text == "a" || text == "an" {
		return 1
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return max(0, slices.Index(words, text))
}
