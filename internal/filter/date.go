package filter

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dates reads the dates of a query. isDay: the member is a day that usually lies in the future, not
// a past moment.
type dates struct {
	today time.Time
	isDay bool
}

// period is a day, month or year, or a moment. Its ends and its neighbours are written as in a
// Range.
type period struct {
	before, first, last, after string
	isMoment                   bool
	isAway                     bool // so many days from today
}

// read reads a date, a date behind an operator, or the two ends of a range, of which one may be
// open.
func (d dates) read(value string) (r Range, ok bool) {
	if from, to, isRange := strings.Cut(value, ".."); isRange {
		start, isStart := d.period(strings.TrimSuffix(from, "*"))
		end, isEnd := d.period(strings.TrimSuffix(to, "*"))
		r = Range{start.first, end.last}
		return r, (isStart || from == "" || from == "*") && (isEnd || to == "" || to == "*") && r.isValid()
	}
	bare := strings.TrimLeft(value, "<>=")
	operator := value[:len(value)-len(bare)]
	p, ok := d.period(bare)
	if !ok {
		return r, false
	}
	if p.isAway && !d.isDay { // "more than 3 days ago" leaves out the whole day
		p.after, p.last = p.first, p.before
	}
	switch operator {
	case ">":
		r.From = p.after
	case ">=":
		r.From = p.first
	case "<":
		r.To = p.before
	case "<=":
		r.To = p.last
	case "", "=":
		today := d.today.Format(time.DateOnly)
		switch {
		case p.isMoment:
			return r, false
		case p.isAway: // the days from then to today
			r = Range{min(p.first, today), max(p.first, today)}
		default:
			r = Range{p.first, p.last}
		}
	}
	return r, r.isValid()
}

// isValid reports whether a range has an end, and real dates in order.
func (r Range) isValid() bool {
	from, isFrom := instant(r.From)
	to, isTo := instant(r.To)
	if len(r.To) == len(time.DateOnly) {
		to = to.AddDate(0, 0, 1).Add(-1) // the whole day
	}
	return r != (Range{}) && (isFrom || r.From == "") && (isTo || r.To == "") && (!isFrom || !isTo || !from.After(to))
}

// instant reads a date, as its first moment, or a time.
func instant(text string) (at time.Time, ok bool) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	return at, err == nil && at.Year() >= 1
}

// Months are mo: m is minutes in some trackers and months in others.
var away = regexp.MustCompile(`^([+-]?)(\d{1,4})(d|w|mo|y)$`)

// period reads a date, month, year, time, today and its neighbours, or a relative day: 7d is seven
// days ago, or seven days ahead for members that lie in the future; -7d is always ago.
func (d dates) period(text string) (p period, ok bool) {
	switch strings.TrimPrefix(text, "@") {
	case "yesterday":
		return days(d.today.AddDate(0, 0, -1), 0, 0, 1), true
	case "today":
		return days(d.today, 0, 0, 1), true
	case "tomorrow":
		return days(d.today.AddDate(0, 0, 1), 0, 0, 1), true
	}
	if m := away.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[2])
		if m[1] == "-" || m[1] == "" && !d.isDay {
			n = -n
		}
		day := map[string]time.Time{
			"d": d.today.AddDate(0, 0, n), "w": d.today.AddDate(0, 0, 7*n), "mo": d.today.AddDate(0, n, 0), "y": d.today.AddDate(n, 0, 0),
		}[m[3]]
		p = days(day, 0, 0, 1)
		p.isAway = true
		return p, err == nil
	}
	if first, err := time.Parse(time.DateOnly, text); err == nil {
		return days(first, 0, 0, 1), true
	}
	if first, err := time.Parse("2006-01", text); err == nil {
		return days(first, 0, 1, 0), true
	}
	if first, err := time.Parse("2006", text); err == nil {
		return days(first, 1, 0, 0), true
	}
	moment := strings.ToUpper(text)
	_, err := time.Parse(time.RFC3339, moment)
	return period{moment, moment, moment, moment, true, false}, err == nil && !d.isDay
}

// days is the period of so many years, months and days from a day on.
func days(first time.Time, years, months, count int) period {
	after := first.AddDate(years, months, count)
	write := func(day time.Time) string { return day.Format(time.DateOnly) }
	return period{before: write(first.AddDate(0, 0, -1)), first: write(first), last: write(after.AddDate(0, 0, -1)), after: write(after)}
}
