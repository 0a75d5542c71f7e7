package ask

import (
	"regexp"
	"strings"
	"time"

	"tasklens/internal/filter"
)

// dateVerbs say which date of a ticket is meant.
var dateVerbs = newVocabulary(
	[2]string{"created", `created|opened|reported|filed|raised|added|submitted|logged|came in|arrived|entered|new|older`},
	[2]string{"updated", `updated|changed?|modified|touched|untouched|edited|activity|happened|moved|worked on`},
	[2]string{"resolved", `resolved?|closed?|fixed|fix|completed?|finished|finish|done|solved|shipped`},
	[2]string{"due", `due|deadlines?|expires?`},
)

const (
	unit   = `(day|week|month|quarter|year)s?`
	months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	date   = `\d{4}-\d\d-\d\d|\d{4}-\d\d|(?:` + months + `) \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:` + months + `)(?:,? \d{4})?|` +
		`(?:` + months + `)(?:,? \d{4})?|(?:last |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|q[1-4](?: \d{4})?|(?:19|20)\d\d|today|yesterday|tomorrow|` +
		`(?:(?:the )?(?:start|beginning) of )?(?:this|the|last|next|previous|current) (?:day|week|month|quarter|year)`
)

var (
	denied = regexp.MustCompile(`(?i)(?:\bnot|\b(?:has|have|had|was|were|is|are)n['’]t|\bnever|\bno|\buntouched|\bstale)\b(?: been| yet| any)?(?: ` + dateVerbs.words + `)? *$`)
	denial = phrase(`(?:(?:has|have|was|were|is|are|been) )?(?:not|never)(?: been)?|(?:has|have|was|were|is|are)n['’]t(?: been)?`)
)

// timespans are the forms of phrases of time. Each is read into its first and last day, zero if
// open; both are zero if there is no such date.
var timespans = []struct {
	form *regexp.Regexp
	days func(c calendar, m []string, ahead bool) (from, to time.Time)
}{
	{phrase(`(?:between|from) (` + date + `) (?:and|to|until|till|through) (` + date + `)`), calendar.between},
	{phrase(`(?:(since|before|after|in|within|during|for|from|over|under|at least|more than|older than|longer than|greater than|less than|newer than|younger than) )?` +
		`(?:(?:the )?(last|past|previous|next|coming) )?(` + one + `) ` + unit + `(?: (ago|old))?`), calendar.distance},
	{phrase(`(?:(?:in|within|over|during|for) the (?:last|past)|past) ` + unit), func(c calendar, m []string, _ bool) (from, to time.Time) {
		return step(c.today, -1, m[1]), c.today
	}},
	{phrase(`(?:(since|after|before|until|till|by|in|on|during|from|of|for|as of|starting|at|later than|earlier than|prior to) )?(` + date + `)`), calendar.bounded},
}

// dates places the phrases of time.
func (q *reader) dates() {
	for _, timespan := range timespans {
		at := timespan.form.FindStringIndex(q.rest)
		if at == nil {
			continue
		}
		member, isDenied := q.memberAt(at[1]), denied.MatchString(q.rest[:at[0]])
		said := q.rest[at[0]:at[1]]
		from, to := timespan.days(q.calendar, timespan.form.FindStringSubmatch(strings.ToLower(said)), member == "due")
		q.cut(at[0], at[1])
		if from.IsZero() && to.IsZero() {
			q.Unread = append(q.Unread, strings.TrimSpace(said))
			continue
		}
		if isDenied {
			q.take(denial)
			if !from.IsZero() && (to.IsZero() || !to.Before(q.calendar.today)) { // not since then
				from, to = time.Time{}, from.AddDate(0, 0, -1)
			}
		}
		q.limit(member, from, to)
	}
}

// memberAt is the member that the verb nearest before the end of a phrase of time means, or the
// first behind it.
func (q *reader) memberAt(end int) string {
	if before := dateVerbs.pattern.FindAllString(q.rest[:end], -1); len(before) > 0 {
		return dateVerbs.meant(before[len(before)-1])
	}
	if member := dateVerbs.meant(q.rest[end:]); member != "" {
		return member
	}
	return "created"
}

// limit sets a range of days, both included, of the caller's time zone. Zero is open.
func (q *reader) limit(member string, from, to time.Time) {
	write := func(day time.Time, after int) string {
		switch {
		case day.IsZero():
			return ""
		case q.calendar.zone == time.UTC || member == "due":
			return day.Format(time.DateOnly)
		default: // a time as an end is excluded
			return time.Date(day.Year(), day.Month(), day.Day()+after, 0, 0, 0, 0, q.calendar.zone).Format(time.RFC3339)
		}
	}
	if value, is := q.Filters.Member(member).Value.(*filter.Range); is {
		*value, q.dated = filter.Range{From: write(from, 0), To: write(to, 1)}, member
	}
}

// calendar reads dates, in lower case. Its days are midnights in UTC, whatever the zone.
type calendar struct {
	today time.Time // the day in zone
	zone  *time.Location
}

func newCalendar(now time.Time) calendar {
	return calendar{time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC), now.Location()}
}

// between reads two dates.
func (c calendar) between(m []string, _ bool) (from, to time.Time) {
	from, _ = c.period(m[1])
	if _, to = c.period(m[2]); from.IsZero() || to.Before(from) {
		return time.Time{}, time.Time{}
	}
	return from, to
}

// distance reads a word, a direction, a number of units and "ago". ahead: they lie ahead by
// default.
func (c calendar) distance(m []string, ahead bool) (from, to time.Time) {
	n, unit := number(m[3]), m[4]
	day := step(c.today, -n, unit)
	switch m[1] {
	case "more than", "older than", "longer than", "greater than", "over", "at least":
		if m[2] == "" {
			return from, day.AddDate(0, 0, -1)
		}
	}
	switch {
	case m[5] == "ago":
		return bound(m[1], day, day)
	case m[2] == "next" || m[2] == "coming" || ahead && m[2] == "":
		return c.today, step(c.today, n, unit)
	}
	return day, c.today
}

// bounded reads a preposition and a date.
func (c calendar) bounded(m []string, _ bool) (from, to time.Time) {
	if from, to = c.period(m[2]); from.IsZero() {
		return from, to
	}
	return bound(m[1], from, to)
}

// bound opens an end of a range, as a preposition says.
func bound(word string, first, last time.Time) (from, to time.Time) {
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

// step is the day so many units from another.
func step(day time.Time, n int, unit string) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, 7*n)
	case "month":
		return day.AddDate(0, n, 0)
	case "quarter":
		return day.AddDate(0, 3*n, 0)
	case "year":
		return day.AddDate(n, 0, 0)
	}
	return day.AddDate(0, 0, n)
}

// start is the first day of the unit that holds a day. Weeks begin on Mondays.
func start(day time.Time, unit string) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return day.AddDate(0, 0, 1-day.Day())
	case "quarter":
		return time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

var (
	relative = regexp.MustCompile(`^((?:start|beginning) of )?(this|the|current|last|previous|next) (day|week|month|quarter|year)$`)
	weekday  = regexp.MustCompile(`^(last )?(?:this )?(\w{3})\w*day$`)
	month    = regexp.MustCompile(`\b(` + months + `)\b`)
	ordinal  = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b|,| of\b`)
	quarters = strings.NewReplacer("q1", "jan", "q2", "apr", "q3", "jul", "q4", "oct")
)

// layouts are those of a day, month or year. Without a year it is the last one that has begun.
var layouts = []struct{ layout, unit string }{
	{time.DateOnly, "day"}, {"Jan 2 2006", "day"}, {"2 Jan 2006", "day"}, {"Jan 2", "day"}, {"2 Jan", "day"},
	{"2006-01", "month"}, {"Jan 2006", "month"}, {"Jan", "month"}, {"2006", "year"},
}

// period returns the first and the last day of a date, month, year or period, or zero.
func (c calendar) period(text string) (first, last time.Time) {
	whole := func(first time.Time, unit string) (time.Time, time.Time) {
		return first, step(first, 1, unit).AddDate(0, 0, -1)
	}
	text = strings.TrimPrefix(text, "the ")
	if days, is := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[text]; is {
		return whole(c.today.AddDate(0, 0, days), "day")
	}
	if m := relative.FindStringSubmatch(text); m != nil {
		first = step(start(c.today, m[3]), map[string]int{"last": -1, "previous": -1, "next": 1}[m[2]], m[3])
		if m[1] != "" {
			return first, first
		}
		return whole(first, m[3])
	}
	if m := weekday.FindStringSubmatch(text); m != nil {
		day := c.today
		if m[1] != "" {
			day = day.AddDate(0, 0, -1)
		}
		for !strings.EqualFold(day.Weekday().String()[:3], m[2]) {
			day = day.AddDate(0, 0, -1)
		}
		return whole(day, "day")
	}
	short := quarters.Replace(ordinal.ReplaceAllString(month.ReplaceAllStringFunc(text, func(name string) string { return name[:3] }), "$1"))
	for _, l := range layouts {
		first, err := time.Parse(l.layout, short)
		if err != nil {
			continue
		}
		if first.Year() == 0 {
			year, day := c.today.Year(), first.Day()
			if first.Month() > c.today.Month() {
				year--
			}
			if first = time.Date(year, first.Month(), day, 0, 0, 0, 0, time.UTC); first.Day() != day {
				break // this February has none
			}
		}
		if strings.HasPrefix(text, "q") {
			l.unit = "quarter"
		}
		return whole(first, l.unit)
	}
	return time.Time{}, time.Time{}
}
