// Package figures is how the offline chat model decides to call a tool that counts, groups and
// lists tickets. It is no parser: each rule of a table cuts its words out of a question, and what
// no rule knows makes it a question about texts, so that no number answers another question than
// the one that was asked. It knows no stored names but those of the sources.
package figures

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/turn"
)

// Goal is what is wanted of the tickets that match. Without an action, a question is about texts.
type Goal struct {
	Action    string `json:"action"` // count, group or list
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

// Turn is an earlier turn of a conversation.
type Turn struct{ Role, Text string }

// Thread returns a question with the earlier ones that it follows up, the first of them first.
func Thread(question string, turns []Turn) []string {
	thread := []string{question}
	for _, earlier := range slices.Backward(turns) {
		if turn.Read(thread[0]).Alone || key.MatchString(thread[0]) {
			break
		}
		if earlier.Role == "user" {
			thread = slices.Insert(thread, 0, earlier.Text)
		}
	}
	return thread
}

// Asks reports whether a thread ends by asking for tickets, read or not: no text is an answer then.
func Asks(thread []string) bool {
	for _, question := range slices.Backward(thread) {
		if isCounted := counted.MatchString(question); isCounted || asks.MatchString(question) {
			return isCounted
		}
	}
	return false
}

// mostRead is the length of the longest thread that is read, in bytes.
const mostRead = 1000

// Read reads a thread into a call. is is false if it asks what texts say, or more than the rules
// know.
func Read(thread []string, known Names, today time.Time) (call Call, is bool) {
	if len(strings.Join(thread, " ")) > mostRead {
		return call, false
	}
	for i, question := range thread {
		next, is := read(question, known, today, call.Goal)
		if !is {
			return call, false
		}
		if i > 0 {
			next.follow(call)
		}
		call = next
	}
	return call, true
}

// follow adds what an earlier question asked for and this one does not replace.
func (c *Call) follow(earlier Call) {
	named := map[string]bool{"status": c.State != "any"}
	for _, f := range c.Filters {
		named[f.Field] = true
	}
	for _, span := range c.Dates {
		named[span.Field] = true
	}
	if !named["status"] {
		c.State = earlier.State
	}
	c.Filters = append(slices.DeleteFunc(earlier.Filters, func(f Condition) bool { return named[f.Field] }), c.Filters...)
	c.Dates = append(slices.DeleteFunc(earlier.Dates, func(s Span) bool { return named[s.Field] }), c.Dates...)
	if len(c.Words) == 0 {
		c.Words = earlier.Words
	}
}

// reader is a sentence that is being read. What was placed is cut out of rest and leaves a bar.
type reader struct {
	Call
	rest  string
	today time.Time // midnight in UTC
}

// read reads the last sentence of a question that has an aim, of which prior is the default.
func read(question string, known Names, today time.Time, prior Goal) (Call, bool) {
	for _, sentence := range slices.Backward(ends.Split(question, -1)) {
		q := reader{
			Call:  Call{Goal: Goal{Period: "month", Sort: "created"}, State: "any", Words: []string{}, Filters: []Condition{}, Dates: []Span{}},
			rest:  strings.Join(strings.Fields(sentence), " "),
			today: time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, time.UTC),
		}
		isOfTickets := prior.Action != "" || q.has(tickets)
		q.words()
		q.dates()
		q.aim()
		if q.Action == "" {
			q.Goal = prior
		}
		if q.Action == "" || key.MatchString(sentence) { // the named ticket is a source, with its fields
			continue
		}
		q.states()
		q.names(known)
		q.doneOrOpen()
		if q.Action == "list" && len(q.Dates) > 0 && q.Limit == 0 {
			q.Sort = q.Dates[0].Field
		}
		isNarrowed := len(q.Filters)+len(q.Dates) > 0 || q.State != "any"
		isKnown := isOfTickets || q.Action == "list" && isNarrowed && len(q.Words) == 0
		if isKnown = isKnown && (q.Action != "list" || isNarrowed || q.Limit > 0); !isKnown {
			continue
		}
		return q.Call, !leftover.MatchString(grammar.ReplaceAllString(q.rest, ""))
	}
	return Call{}, false
}

func (q *reader) has(pattern *regexp.Regexp) bool { return pattern.MatchString(q.rest) }

// take cuts the first match out of the question and returns its groups; nil if there is none.
func (q *reader) take(pattern *regexp.Regexp) (groups []string) {
	at := pattern.FindStringSubmatchIndex(q.rest)
	for i := 0; i < len(at); i += 2 {
		groups = append(groups, q.rest[max(0, at[i]):max(0, at[i+1])])
	}
	if at != nil {
		q.rest = q.rest[:at[0]] + cut + q.rest[at[1]:]
	}
	return groups
}

// words takes the words that texts must have: what is quoted, and a word or two after "mention".
func (q *reader) words() {
	for m := q.take(quoted); m != nil; m = q.take(quoted) {
		q.Words = append(q.Words, m[1])
	}
	for m := q.take(mentioned); m != nil; m = q.take(mentioned) {
		q.Words = append(q.Words, m[1])
		next := another.FindStringSubmatch(q.rest)
		if next != nil && !slices.ContainsFunc([]*regexp.Regexp{grammar, ending, open, done, verb}, func(r *regexp.Regexp) bool { return r.MatchString(next[2]) }) {
			q.Words, q.rest = append(q.Words, next[2]), next[1]+strings.TrimPrefix(q.rest, next[0])
		}
	}
}

// aim takes the words that say what is wanted.
func (q *reader) aim() {
	m := q.take(most)
	if m != nil { // who, or a field; a verb; whether the fewest
		q.Goal = Goal{Action: "group", GroupBy: cmp.Or(fieldOf(m[1]), "assignee"), Sort: "size", Ascending: m[3] != ""}
		if m[1] == "" && verbOf(m[2]) == "created" {
			q.GroupBy = "reporter"
		}
	} else if m = q.take(each); m != nil {
		q.Goal = Goal{Action: "group", GroupBy: fieldOf(m[1]), Sort: "created"}
	} else if q.take(howMany) != nil {
		q.Action = "count"
	} else if m = q.take(extreme); m != nil { // a verb, a number, whether the first, a verb
		limit, _ := strconv.Atoi(m[2])
		q.Goal = Goal{Action: "list", Period: "month", Sort: cmp.Or(verbOf(m[1]+m[4]), "created"), Ascending: m[3] != "", Limit: max(1, limit)}
	} else if q.has(plural) && q.take(which) != nil || q.take(whatIs) != nil {
		q.Action = "list"
	}
	if q.Action == "group" {
		q.take(howMany)
		q.take(which)
		if q.Period = "month"; slices.Contains(periods, q.GroupBy) {
			q.Period, q.GroupBy = q.GroupBy, cmp.Or(verbOf(q.rest), "created")
		}
	}
}

// states takes what is no stored value.
func (q *reader) states() {
	for _, s := range states {
		if q.take(s.said) == nil {
			continue
		}
		if s.field != "" {
			q.Filters = append(q.Filters, Condition{s.field, []string{s.value}, false})
		} else {
			q.State, q.Dates = "open", append(q.Dates, Span{Field: "due", To: written(q.today.AddDate(0, 0, -1))})
		}
	}
}

// doneOrOpen takes the words for it, unless "resolved" says which date is meant.
func (q *reader) doneOrOpen() {
	if q.take(open) != nil {
		q.State = "open"
	} else if q.Sort != "resolved" && q.GroupBy != "resolved" && !slices.ContainsFunc(q.Dates, func(s Span) bool { return s.Field == "resolved" }) && q.take(done) != nil {
		q.State = "done"
	}
}
