package ticketfile

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// dateLayouts are ISO 8601, Postgres's format, the defaults of Jira's exports, and Linear's.
var dateLayouts = append(withTimes("2006-01-02", "2/Jan/06", "2/Jan/2006"), "Mon Jan 2 2006 15:04:05 GMT-0700")

// Numeric dates, as some Jira instances write them. Nothing in 3/4/25 tells whether day or month
// comes first, so a date counts only if one order alone is valid or both mean the same.
var (
	dayFirstLayouts   = withTimes("2/1/06", "2/1/2006")
	monthFirstLayouts = withTimes("1/2/06", "1/2/2006")
)

func withTimes(days ...string) (layouts []string) {
	times := []string{"", "15:04", "3:04 PM", "15:04:05", "15:04:05Z07:00", "15:04:05Z0700", "15:04:05Z07"}
	for _, day := range days {
		for _, clock := range times {
			layouts = append(layouts, strings.TrimSpace(day+" "+clock))
		}
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

// ParseDate reads a date in any of the layouts, in any case, in UTC if it has no zone. It returns
// it in RFC 3339, or "" for an empty text.
func ParseDate(s string) (string, error) {
	s = strings.ToUpper(strings.TrimSpace(plainSpaces.Replace(clean(s))))
	if s == "" {
		return "", nil
	}
	if zone := strings.Index(s, " ("); zone > 0 && strings.Contains(s, "GMT") { // the zone's name after its offset
		s = s[:zone]
	}
	if len(s) > 10 && s[10] == 'T' {
		s = s[:10] + " " + s[11:]
	}
	if date := parseAny(dateLayouts, s); date != "" {
		return date, nil
	}
	dayFirst, monthFirst := parseAny(dayFirstLayouts, s), parseAny(monthFirstLayouts, s)
	switch date := cmp.Or(dayFirst, monthFirst); {
	case date == "":
		return "", errNoDate
	case monthFirst != "" && monthFirst != date:
		return "", errWhichDate
	default:
		return date, nil
	}
}

func parseAny(layouts []string, s string) string {
	for _, layout := range layouts {
		t, err := time.Parse(layout, s)
		t = t.UTC()
		if err == nil && t.Year() >= 1 && t.Year() <= 9999 { // a zone can move it out of the years that JSON and Postgres both write
			return t.Format(time.RFC3339Nano)
		}
	}
	return ""
}
