package ticketfile

import (
	"errors"
	"strings"
	"time"
)

// dateLayouts are ISO 8601, Postgres's format and the defaults of Jira's exports.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05Z07",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"2006-01-02",
	"2/Jan/06 3:04 PM",
	"2/Jan/06 15:04",
	"2/Jan/06",
	"2/Jan/2006 3:04 PM",
	"2/Jan/2006 15:04",
	"2/Jan/2006",
	"Mon Jan 2 2006 15:04:05 GMT-0700", // Linear's
}

// Numeric dates, as some Jira instances write them. Nothing in 3/4/25 tells whether day or month
// comes first, so a date counts only if one order alone is valid or both mean the same.
var (
	dayFirstLayouts   = timesOf("2/1/06", "2/1/2006")
	monthFirstLayouts = timesOf("1/2/06", "1/2/2006")
)

func timesOf(days ...string) (layouts []string) {
	for _, day := range days {
		layouts = append(layouts, day, day+" 3:04 PM", day+" 15:04")
	}
	return layouts
}

// What is wrong with a date. The message starts with the value.
var (
	errNoDate    = errors.New("is not a date")
	errWhichDate = errors.New("may have the day or the month first")
)

// Java writes a no-break space before AM and PM, narrow since version 20.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// parseDate reads a date in any of the layouts, in any case, in UTC if it has no zone. An empty
// text gives the zero time, which means unknown.
func parseDate(s string) (time.Time, error) {
	s = strings.ToUpper(strings.TrimSpace(plainSpaces.Replace(clean(s))))
	if s == "" {
		return time.Time{}, nil
	}
	if zone := strings.Index(s, " ("); zone > 0 && strings.Contains(s, "GMT") { // the zone's name after its offset
		s = s[:zone]
	}
	if date, ok := parseAny(dateLayouts, s); ok {
		return date, nil
	}
	dayFirst, isDayFirst := parseAny(dayFirstLayouts, s)
	monthFirst, isMonthFirst := parseAny(monthFirstLayouts, s)
	switch {
	case isDayFirst && isMonthFirst && !dayFirst.Equal(monthFirst):
		return time.Time{}, errWhichDate
	case isDayFirst:
		return dayFirst, nil
	case isMonthFirst:
		return monthFirst, nil
	}
	return time.Time{}, errNoDate
}

func parseAny(layouts []string, s string) (time.Time, bool) {
	for _, layout := range layouts {
		t, err := time.Parse(layout, s)
		t = t.UTC()
		if err == nil && t.Year() >= 1 && t.Year() <= 9999 { // a zone can move it out of the years that JSON and Postgres both write
			return t, true
		}
	}
	return time.Time{}, false
}
