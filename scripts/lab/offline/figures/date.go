package figures

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Words for time. Verbs say which date of a ticket is meant.
const (
	verbWords = `(?P<created>created|opened|reported|filed|raised|added|submitted|logged|came in|arrived|entered|new|older)|` +
		`(?P<updated>updated|changed?|modified|touched|untouched|edited|activity|happened|moved|worked on)|` +
		`(?P<resolved>resolved?|closed?|fixed|fix|completed?|finished|finish|done|solved|shipped)|(?P<due>due|deadlines?|expires?)`
	prepositions = `since|after|before|until|till|by|in|on|during|from|of|for|as of|starting|at|later than|earlier than|prior to|within|over|under|` +
		`at least|more than|older than|longer than|greater than|less than|newer than|younger than`
	months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	date   = `\d{4}-\d\d-\d\d|\d{4}-\d\d|(?:` + months + `) \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:` + months + `)(?:,? \d{4})?|` +
		`(?:` + months + `)(?:,? \d{4})?|(?:last |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|q[1-4](?: \d{4})?|` +
		`(?:(?:the )?(?:last|past|previous|next|coming) )?(?:` + one + `) (?:day|week|month|quarter|year)s?(?: ago| old)?|` +
		`(?:19|20)\d\d|today|yesterday|tomorrow|(?:(?:the )?(?:start|beginning) of )?(?:this|(?:the )?(?:last|past)|the|next|previous|current) (?:day|week|month|quarter|year)`
)

var (
	verbs    = phrase(verbWords)
	verb     = strings.NewReplacer("?P<created>", "?:", "?P<updated>", "?:", "?P<resolved>", "?:", "?P<due>", "?:").Replace(verbWords)
	timespan = phrase(`(?:between|from) (` + date + `) (?:and|to|until|till|through) (` + date + `)|(?:(` + prepositions + `) )?(` + date + `)`)
	denied   = regexp.MustCompile(`(?i)(?:\bnot|\b(?:has|have|had|was|were|is|are)n['’]t|\bnever|\bno|\buntouched|\bstale)\b(?: been| yet| any)?(?: (?:` + verb + `))? *$`)
	denial   = phrase(`(?:(?:has|have|was|were|is|are|been) )?(?:not|never)(?: been)?|(?:has|have|was|were|is|are)n['’]t(?: been)?`)
)

// dates places the phrases of time. Those that are no dates, or a second one of a member, are left
// unread.
func (q *reader) dates() {
	for at := timespan.FindStringIndex(q.rest); at != nil; at = timespan.FindStringIndex(q.rest) {
		member, not := q.memberAt(at[1]), denied.FindString(q.rest[:at[0]])
		said := q.take(timespan)
		from, to := q.days(timespan.FindStringSubmatch(strings.ToLower(said[0])), member == "due")
		if from.IsZero() && to.IsZero() || slices.ContainsFunc(q.Dates, func(other Span) bool { return other.Field == member }) {
			q.unread = append(q.unread, said[0])
			continue
		}
		if not != "" {
			q.take(denial)
			switch {
			case member == "resolved": // an open ticket is not resolved then, and has no such date
				q.unread = append(q.unread, said[0])
				continue
			case from.IsZero():
				from, to = to.AddDate(0, 0, 1), time.Time{}
			case to.IsZero() || member != "due" && !to.Before(q.today): // not since then
				from, to = time.Time{}, from.AddDate(0, 0, -1)
			default: // before and after are two ranges
				q.unread = append(q.unread, said[0])
				continue
			}
		}
		q.Dates = append(q.Dates, Span{member, written(from), written(to)})
	}
}

// memberAt is the member that the verb nearest before the end of a phrase of time means, or the
// first behind it.
func (q *reader) memberAt(end int) string {
	if before := verbs.FindAllString(q.rest[:end], -1); len(before) > 0 {
		return meant(verbs, before[len(before)-1])
	}
	return cmp.Or(meant(verbs, q.rest[end:]), "created")
}

// written is a day; "" if it is open.
func written(day time.Time) string {
	if day.IsZero() {
		return ""
	}
	return day.Format(time.DateOnly)
}

// days returns the first and the last day of a phrase of time, zero if open. Both are zero if there
// is no such date.
func (q *reader) days(m []string, isDue bool) (from, to time.Time) {
	if m[1] != "" {
		from, _ = q.period(m[1], isDue)
		if _, to = q.period(m[2], isDue); from.IsZero() || to.Before(from) {
			return time.Time{}, time.Time{}
		}
		return from, to
	}
	first, last := q.period(m[4], isDue)
	if first.IsZero() {
		return first, last
	}
	switch m[3] {
	case "since", "from", "as of", "starting":
		return first, to
	case "after", "later than":
		return last.AddDate(0, 0, 1), to
	case "before", "earlier than", "prior to", "older than":
		return from, first.AddDate(0, 0, -1)
	case "until", "till", "by":
		return from, last
	case "more than", "longer than", "greater than", "over", "at least":
		if d := distance.FindStringSubmatch(m[4]); d != nil && d[1] == "" {
			return from, first.AddDate(0, 0, -1)
		}
	}
	return first, last
}

var units = map[string]struct{ months, days int }{"day": {0, 1}, "week": {0, 7}, "month": {1, 0}, "quarter": {3, 0}, "year": {12, 0}}

// step is the day so many units from another.
func step(day time.Time, n int, unit string) time.Time {
	return day.AddDate(0, n*units[unit].months, n*units[unit].days)
}

// start is the first day of the unit that holds a day. Weeks begin on Mondays.
func start(day time.Time, unit string) time.Time {
	if n := units[unit].months; n > 0 {
		return time.Date(day.Year(), day.Month()-(day.Month()-1)%time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%units[unit].days)
}

var (
	distance = regexp.MustCompile(`^(?:the )?(?:(last|past|previous|next|coming) )?(` + one + `) (day|week|month|quarter|year)s?( ago)?`)
	rolling  = regexp.MustCompile(`^(?:the last|(?:the )?past) (day|week|month|quarter|year)$`)
	relative = regexp.MustCompile(`^(?:the )?((?:start|beginning) of )?(?:the )?(this|the|current|last|previous|next) (day|week|month|quarter|year)$`)
	weekday  = regexp.MustCompile(`^(last)? ?(?:this )?(\w{3})\w*day$`)
	month    = regexp.MustCompile(`\b(` + months + `)\b`)
	ordinal  = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b|,| of\b|^the `)
	shifts   = map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1, "last": -1, "previous": -1, "next": 1}
	quarters = strings.NewReplacer("q1", "jan", "q2", "apr", "q3", "jul", "q4", "oct")
)

// layouts are those of a day, month or year. Without a year it is the last one that has begun.
var layouts = []struct{ layout, unit string }{
	{time.DateOnly, "day"}, {"Jan 2 2006", "day"}, {"2 Jan 2006", "day"}, {"Jan 2", "day"}, {"2 Jan", "day"},
	{"2006-01", "month"}, {"Jan 2006", "month"}, {"Jan", "month"}, {"2006", "year"},
}

// period returns the first and the last day of a date, or zero. A number of units lies ahead if
// something is due.
func (q *reader) period(text string, isDue bool) (first, last time.Time) {
	unit := "day"
	if days, is := shifts[text]; is {
		first = q.today.AddDate(0, 0, days)
	} else if m := distance.FindStringSubmatch(text); m != nil {
		day := step(q.today, -number(m[2]), m[3])
		switch {
		case m[4] != "":
			return day, day
		case m[1] == "next" || m[1] == "coming" || isDue && m[1] == "":
			return q.today, step(q.today, number(m[2]), m[3])
		}
		return day, q.today
	} else if m := rolling.FindStringSubmatch(text); m != nil {
		return step(q.today, -1, m[1]), q.today
	} else if m := relative.FindStringSubmatch(text); m != nil {
		if first = step(start(q.today, m[3]), shifts[m[2]], m[3]); m[1] == "" {
			unit = m[3]
		}
	} else if m := weekday.FindStringSubmatch(text); m != nil {
		first = q.today.AddDate(0, 0, shifts[m[1]])
		for !strings.EqualFold(first.Weekday().String()[:3], m[2]) {
			first = first.AddDate(0, 0, -1)
		}
	} else if first, unit = q.parse(text); first.IsZero() {
		return first, last
	}
	return first, step(first, 1, unit).AddDate(0, 0, -1)
}

// parse reads a day, month, quarter or year into its first day, or zero.
func (q *reader) parse(text string) (first time.Time, unit string) {
	short := month.ReplaceAllStringFunc(ordinal.ReplaceAllString(text, "$1"), func(name string) string { return name[:3] })
	for _, l := range layouts {
		first, err := time.Parse(l.layout, quarters.Replace(short))
		if err != nil {
			continue
		}
		if first.Year() == 0 {
			year, day := q.today.Year(), first.Day()
			if first.Month() > q.today.Month() {
				year--
			}
			if first = time.Date(year, first.Month(), day, 0, 0, 0, 0, time.UTC); first.Day() != day {
				break // this February has none
			}
		}
		if short[0] == 'q' {
			return first, "quarter"
		}
		return first, l.unit
	}
	return time.Time{}, ""
}
