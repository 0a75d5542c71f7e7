package querytext

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/filter"
)

// oneRange reads the single value of a date filter. isDay: the field is a date that usually lies in
// the future, not a past moment.
func oneRange(into *filter.Range, values []string, now time.Time, isDay bool) bool {
	if len(values) != 1 {
		return false
	}
	d := dates{now.UTC().Truncate(24 * time.Hour), isDay}
	r, ok := d.read(strings.ToLower(values[0]))
	*into = r
	return ok
}

type dates struct {
	today time.Time
	isDay bool
}

// point is a day, a longer period such as a month, or a moment.
type point struct {
	first, last time.Time
	moment      string // RFC 3339; "" for days
	isAway      bool   // relative to today
}

func (d dates) read(value string) (r filter.Range, ok bool) {
	if from, to, isRange := strings.Cut(value, ".."); isRange {
		return d.between(from, to)
	}
	bare := strings.TrimLeft(value, "<>=")
	operator := value[:len(value)-len(bare)]
	p, ok := d.point(bare)
	if !ok {
		return r, false
	}
	// "3 days ago" for a moment excludes that whole day: only later moments match.
	since, until := p.last.AddDate(0, 0, 1), p.last
	if p.isAway && !d.isDay {
		since, until = p.first, p.first.AddDate(0, 0, -1)
	}
	switch operator {
	case ">":
		return p.bounds(since, time.Time{})
	case ">=":
		return p.bounds(p.first, time.Time{})
	case "<":
		return p.bounds(time.Time{}, p.first.AddDate(0, 0, -1))
	case "<=":
		return p.bounds(time.Time{}, until)
	case "", "=":
		if p.moment != "" {
			return r, false
		}
		if p.isAway { // the days from then to today
			p.first, p.last = earlier(p.first, d.today), later(p.last, d.today)
		}
		return p.bounds(p.first, p.last)
	}
	return r, false
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// between reads a range. One end may be open.
func (d dates) between(from, to string) (r filter.Range, ok bool) {
	from, to = strings.TrimSuffix(from, "*"), strings.TrimSuffix(to, "*")
	if from != "" {
		start, ok := d.point(from)
		lower, inReach := start.bounds(start.first, time.Time{})
		if !ok || !inReach {
			return r, false
		}
		r.From = lower.From
	}
	if to != "" {
		end, ok := d.point(to)
		upper, inReach := end.bounds(time.Time{}, end.last)
		if !ok || !inReach {
			return r, false
		}
		r.To = upper.To
	}
	return r, r != (filter.Range{}) && !r.IsReversed()
}

// bounds returns days, or the point's moment instead. The zero time leaves an end open.
func (p point) bounds(first, last time.Time) (r filter.Range, ok bool) {
	switch {
	case p.moment != "" && first.IsZero():
		return filter.Range{To: p.moment}, true
	case p.moment != "":
		return filter.Range{From: p.moment}, true
	}
	for _, end := range []struct {
		day  time.Time
		into *string
	}{{first, &r.From}, {last, &r.To}} {
		if end.day.IsZero() {
			continue
		}
		if !isUsual(end.day) {
			return filter.Range{}, false
		}
		*end.into = end.day.Format(time.DateOnly)
	}
	return r, true
}

// isUsual reports whether a year has four digits without a leading zero.
func isUsual(at time.Time) bool { return at.Year() >= 1000 && at.Year() <= 9999 }

// Months are mo: m is minutes in some trackers and months in others.
var away = regexp.MustCompile(`^([+-]?)(\d{1,4})(d|w|mo|y)$`)

// point reads a date, month, year, time, today and its neighbours, or a relative day: 7d is seven
// days ago, or seven days ahead for fields that lie in the future; -7d is always ago.
func (d dates) point(text string) (p point, ok bool) {
	for days, name := range map[int]string{-1: "yesterday", 0: "today", 1: "tomorrow"} {
		if strings.TrimPrefix(text, "@") == name {
			return d.day(d.today.AddDate(0, 0, days)), true
		}
	}
	if m := away.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[2])
		if m[1] == "-" || m[1] == "" && !d.isDay {
			n = -n
		}
		switch m[3] {
		case "d":
			p = d.day(d.today.AddDate(0, 0, n))
		case "w":
			p = d.day(d.today.AddDate(0, 0, 7*n))
		case "mo":
			p = d.day(addMonths(d.today, n))
		default:
			p = d.day(addMonths(d.today, 12*n))
		}
		p.isAway = true
		return p, err == nil
	}
	for layout, length := range map[string]struct{ years, months, days int }{
		time.DateOnly: {days: 1}, "2006-01": {months: 1}, "2006": {years: 1},
	} {
		if first, err := time.Parse(layout, text); err == nil {
			return point{first: first, last: first.AddDate(length.years, length.months, length.days-1)}, isUsual(first)
		}
	}
	moment := strings.ToUpper(text)
	at, err := time.Parse(time.RFC3339, moment)
	return point{first: at, last: at, moment: moment}, err == nil && !d.isDay && isUsual(at)
}

func (dates) day(at time.Time) point { return point{first: at, last: at} }

// addMonths is the same day of another month, or the last one where that month has fewer.
func addMonths(day time.Time, n int) time.Time {
	first := time.Date(day.Year(), day.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(day.Day(), first.AddDate(0, 1, -1).Day())-1)
}
