package figures

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	units    = `(days?|weeks?|months?|quarters?|years?)`
	months   = `(?-i:January|February|March|April|May|June|July|August|September|October|November|December)`
	absolute = `\d{4}-\d\d-\d\d|` + months + `(?: \d{4})?|(?:19|20)\d\d`
)

// span is a phrase of time: a verb, a preposition, and a date, a number of units before today, or a
// unit.
var span = phrase(`(?:` + verbs + ` )?(?:(since|after|before|until|in|on|within) )?(?:(` + absolute + `|today|yesterday)|(?:the )?(?:last|past) (\d{1,3}) ` + units + `|(?:the )?(this|last|next) ` + units + `)`)

// dates takes the phrases of time. A second one of a field stays, so that the question is not read.
func (q *reader) dates() {
	for at := span.FindStringIndex(q.rest); at != nil; at = span.FindStringIndex(q.rest) {
		m := span.FindStringSubmatch(q.rest)
		field := verbOf(m[1])
		if field == "" {
			if field = verbOf(q.rest); field != "due" && field != "updated" && field != "resolved" {
				field = "created"
			}
		}
		first, last := q.period(m)
		if first.IsZero() || slices.ContainsFunc(q.Dates, func(s Span) bool { return s.Field == field }) {
			return
		}
		switch strings.ToLower(m[2]) {
		case "since":
			last = time.Time{}
		case "after":
			first, last = last.AddDate(0, 0, 1), time.Time{}
		case "before":
			first, last = time.Time{}, first.AddDate(0, 0, -1)
		case "until":
			first = time.Time{}
		}
		q.take(span)
		q.Dates = append(q.Dates, Span{field, written(first), written(last)})
	}
}

// period returns the first and the last day of a phrase of time, zero if there is no such date. A
// date without a year is the last one that has begun.
func (q *reader) period(m []string) (first, last time.Time) {
	date, count, unit, which := m[3], m[4], strings.TrimSuffix(strings.ToLower(m[5]+m[7]), "s"), strings.ToLower(m[6])
	switch {
	case count != "":
		n, _ := strconv.Atoi(count)
		return step(q.today, unit, -n), q.today
	case which != "":
		first = step(start(q.today, unit), unit, map[string]int{"last": -1, "next": 1}[which])
	case strings.EqualFold(date, "today"):
		first, unit = q.today, "day"
	case strings.EqualFold(date, "yesterday"):
		first, unit = q.today.AddDate(0, 0, -1), "day"
	default:
		for layout, of := range map[string]string{time.DateOnly: "day", "January 2006": "month", "January": "month", "2006": "year"} {
			if day, err := time.Parse(layout, date); err == nil {
				first, unit = day, of
			}
		}
		if first.IsZero() {
			return first, last
		}
		if first.Year() == 0 {
			if first = first.AddDate(q.today.Year(), 0, 0); first.After(q.today) {
				first = first.AddDate(-1, 0, 0)
			}
		}
	}
	return first, step(first, unit, 1).AddDate(0, 0, -1)
}

// step is the day so many units later.
func step(day time.Time, unit string, n int) time.Time {
	by := map[string][2]int{"day": {0, 1}, "week": {0, 7}, "month": {1, 0}, "quarter": {3, 0}, "year": {12, 0}}[unit]
	return day.AddDate(0, n*by[0], n*by[1])
}

// start is the first day of the unit that holds a day. Weeks begin on Mondays.
func start(day time.Time, unit string) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return day.AddDate(0, 0, 1-day.Day())
	case "quarter":
		return time.Date(day.Year(), day.Month()-(day.Month()-1)%3, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

// written is a day; "" if it is open.
func written(day time.Time) string {
	if day.IsZero() {
		return ""
	}
	return day.Format(time.DateOnly)
}
