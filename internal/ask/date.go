package ask

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"tasklens/internal/filter"
)

// verbs say which date of a ticket is meant.
var verbs = phrase(verbList)

const verbList = `(?:created|opened|reported|filed|raised|added|submitted|logged|came in|arrived|entered|new|older|` +
	`updated|changed?|modified|touched|untouched|edited|activity|happened|moved|worked on|` +
	`resolved?|closed?|fixed|fix|completed?|finished|finish|done|solved|shipped|due|deadlines?|expires?)`

var (
	resolving = regexp.MustCompile(`^(?i:resolv|clos|fix|complet|finish|done|solved|shipped)`)
	updating  = regexp.MustCompile(`^(?i:updat|chang|modif|touch|untouch|edit|activity|happen|moved|worked)`)
	dueVerb   = regexp.MustCompile(`^(?i:due|deadline|expire)`)
)

// memberOf returns the member of filters whose date a verb means.
func memberOf(verb string) string {
	switch {
	case verb == "":
		return ""
	case resolving.MatchString(verb):
		return "resolved"
	case updating.MatchString(verb):
		return "updated"
	case dueVerb.MatchString(verb):
		return "due"
	}
	return "created"
}

const (
	unit   = `(day|week|month|quarter|year)s?`
	months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	days   = `(?:mon|tues|wednes|thurs|fri|satur|sun)day`
	date   = `\d{4}-\d\d-\d\d|\d{4}-\d\d|(?:` + months + `) \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:` + months + `)(?:,? \d{4})?|` +
		`(?:` + months + `)(?:,? \d{4})?|(?:last |this )?` + days + `|q[1-4](?: \d{4})?|(?:19|20)\d\d|today|yesterday|tomorrow|(?:(?:the )?(?:start|beginning) of )?(?:this|the|last|next|previous|current) (?:day|week|month|quarter|year)`
)

var (
	between  = phrase(`(?:between|from) (` + date + `) (?:and|to|until|till|through) (` + date + `)`)
	distance = phrase(`(?:(since|before|after|in|within|during|for|from|over|under|at least|more than|older than|longer than|greater than|less than|newer than|younger than) )?` +
		`(?:(?:the )?(last|past|previous|next|coming) )?(?:the last )?(` + one + `) ` + unit + `(?: (ago|old))?`)
	recently = phrase(`(?:(?:in|within|over|during|for) the (?:last|past)|past) ` + unit)
	single   = phrase(`(?:(since|after|before|until|till|by|in|on|during|from|of|for|as of|starting|at|later than|earlier than|prior to) )?(` + date + `)`)
	never    = regexp.MustCompile(`(?i)(?:\bnot|\b(?:has|have|had|was|were|is|are)n['’]t|\bnever|\bno|\buntouched|\bstale)\b(?: been| yet| any)?(?: ` + verbList + `)? *$`)
)

// dates places the phrases of time.
func (q *reader) dates() {
	for _, pattern := range []*regexp.Regexp{between, distance, recently, single} {
		at := pattern.FindStringIndex(q.rest)
		if at == nil {
			continue
		}
		member, isDenied := q.memberAt(at[0], at[1]), never.MatchString(q.rest[:at[0]])
		var from, to time.Time
		m := q.take(pattern)
		switch pattern {
		case between:
			from, _ = q.day(m[1])
			_, to = q.day(m[2])
		case distance:
			from, to = q.span(strings.ToLower(m[1]), strings.ToLower(m[2]), m[4], count(m[3]), m[5] == "ago", member == "due")
		case recently:
			from, to = q.away(-1, m[1]), q.today
		case single:
			if from, to = q.day(m[2]); !to.IsZero() {
				from, to = bounded(strings.ToLower(m[1]), from, to)
			}
		}
		if from.IsZero() && to.IsZero() || pattern == between && (from.IsZero() || to.Before(from)) { // no date, such as 2026-02-30
			q.Unread = append(q.Unread, strings.TrimSpace(m[0]))
			continue
		}
		if isDenied && !from.IsZero() && (to.IsZero() || !to.Before(q.today)) { // not since then
			from, to = time.Time{}, from.AddDate(0, 0, -1)
		}
		q.limit(member, from, to)
		if isDenied {
			q.take(negation)
		}
	}
}

// span is the range that so many units from today bound.
func (q *reader) span(word, direction, unit string, n int, isAgo, isDue bool) (from, to time.Time) {
	day := q.away(-n, unit)
	switch word {
	case "more than", "older than", "longer than", "greater than", "over", "at least":
		if direction == "" {
			return from, day.AddDate(0, 0, -1)
		}
	}
	switch {
	case isAgo:
		return bounded(word, day, day)
	case direction == "next" || direction == "coming" || isDue && direction == "":
		return q.today, q.away(n, unit)
	}
	return day, q.today
}

var negation = phrase(`(?:(?:has|have|was|were|is|are|been) )?(?:not|never)(?: been)?|(?:has|have|was|were|is|are)n['’]t(?: been)?`)

// memberAt is the member that the verb nearest before a phrase of time means, or the first behind.
func (q *reader) memberAt(start, end int) string {
	if found := verbs.FindAllString(q.rest[:start], -1); len(found) > 0 {
		return memberOf(found[len(found)-1])
	}
	if strings.HasPrefix(strings.ToLower(q.rest[start:end]), "older") {
		return "created"
	}
	if member := memberOf(verbs.FindString(q.rest[end:])); member != "" {
		return member
	}
	return "created"
}

// limit adds a range of days, both included, of the caller's time zone. Zero is open.
func (q *reader) limit(member string, from, to time.Time) {
	q.dated = member
	write := func(day time.Time, after int) string {
		switch {
		case day.IsZero():
			return ""
		case q.zone == time.UTC || member == "due":
			return day.Format(time.DateOnly)
		default: // a time as an end is excluded
			return time.Date(day.Year(), day.Month(), day.Day()+after, 0, 0, 0, 0, q.zone).Format(time.RFC3339)
		}
	}
	for _, m := range q.Filters.Typed() {
		if value, is := m.Value.(*filter.Range); is && m.Name == member {
			*value = filter.Range{From: write(from, 0), To: write(to, 1)}
		}
	}
}

// bounded opens an end of a range, as a preposition says.
func bounded(word string, first, last time.Time) (from, to time.Time) {
	switch word {
	case "since", "from", "as of", "starting":
		return first, to
	case "after", "later than":
		return last.AddDate(0, 0, 1), to
	case "before", "earlier than", "prior to":
		return from, first.AddDate(0, 0, -1)
	case "until", "till", "by":
		return from, last
	}
	return first, last
}

// away is the day so many units from today.
func (q *reader) away(n int, unit string) time.Time {
	switch strings.ToLower(unit) {
	case "week":
		return q.today.AddDate(0, 0, 7*n)
	case "month":
		return q.today.AddDate(0, n, 0)
	case "quarter":
		return q.today.AddDate(0, 3*n, 0)
	case "year":
		return q.today.AddDate(n, 0, 0)
	}
	return q.today.AddDate(0, 0, n)
}

var (
	calendar  = regexp.MustCompile(`(?:(start|beginning) of )?(this|the|last|next|previous|current) (day|week|month|quarter|year)`)
	inMonth   = regexp.MustCompile(`^(?:(\d{1,2})(?:st|nd|rd|th)? (?:of )?)?(` + months + `)(?: (\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (\d{4}))?$`)
	inQuarter = regexp.MustCompile(`^q([1-4])(?: (\d{4}))?$`)
)

// day returns the first and the last day of a date, month, year or period, or zero. Without a year
// it is the last one that has begun.
func (q *reader) day(text string) (first, last time.Time) {
	text = strings.TrimPrefix(strings.ToLower(text), "the ")
	midnight := func(year, month, day int) time.Time {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	}
	until := func(first time.Time, years, months, days int) (time.Time, time.Time) {
		return first, first.AddDate(years, months, days-1)
	}
	for layout, add := range map[string][3]int{time.DateOnly: {0, 0, 1}, "2006-01": {0, 1, 0}, "2006": {1, 0, 0}} {
		if first, err := time.Parse(layout, text); err == nil {
			return until(first, add[0], add[1], add[2])
		}
	}
	year := func(digits string, month int) int {
		if n := count(digits); n > 0 {
			return n
		}
		if midnight(q.today.Year(), month, 1).After(q.today) {
			return q.today.Year() - 1
		}
		return q.today.Year()
	}
	monday := q.today.AddDate(0, 0, -(int(q.today.Weekday())+6)%7)
	if m := inMonth.FindStringSubmatch(text); m != nil {
		month := 1 + slices.Index([]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}, m[2][:3])
		if day := count(m[1] + m[3]); day > 0 {
			if first = midnight(year(m[4], month), month, day); first.Day() != day {
				return time.Time{}, time.Time{}
			}
			return until(first, 0, 0, 1)
		}
		return until(midnight(year(m[4], month), month, 1), 0, 1, 0)
	}
	if m := inQuarter.FindStringSubmatch(text); m != nil {
		month := 3*count(m[1]) - 2
		return until(midnight(year(m[2], month), month, 1), 0, 3, 0)
	}
	if m := calendar.FindStringSubmatch(text); m != nil {
		n := map[string]int{"last": -1, "previous": -1, "next": 1}[m[2]]
		switch y, month := q.today.Year(), int(q.today.Month()); m[3] {
		case "day":
			first, last = until(q.today.AddDate(0, 0, n), 0, 0, 1)
		case "week":
			first, last = until(monday.AddDate(0, 0, 7*n), 0, 0, 7)
		case "month":
			first, last = until(midnight(y, month+n, 1), 0, 1, 0)
		case "quarter":
			first, last = until(midnight(y, (month-1)/3*3+1+3*n, 1), 0, 3, 0)
		case "year":
			first, last = until(midnight(y+n, 1, 1), 1, 0, 0)
		}
		if m[1] != "" {
			last = first
		}
		return first, last
	}
	for i := range 7 {
		if day := q.today.AddDate(0, 0, -i); strings.HasSuffix(text, strings.ToLower(day.Weekday().String())) {
			if i == 0 && strings.HasPrefix(text, "last") {
				day = day.AddDate(0, 0, -7)
			}
			return until(day, 0, 0, 1)
		}
	}
	if away, is := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[text]; is {
		return until(q.today.AddDate(0, 0, away), 0, 0, 1)
	}
	return first, last
}
