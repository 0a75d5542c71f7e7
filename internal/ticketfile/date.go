package ticketfile

import (
	"strings"
	"time"
)

// dateLayouts are the forms of ISO 8601 and Postgres, then those that Jira's exports use. Layouts of numbers and
// slashes (3/4/25) are not among them: nothing says whether the day or the month comes first.
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
}

// Java writes a no-break space before AM and PM, narrow since version 20.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// parseDate reads a date in any of the layouts, in capitals or not; without a zone it counts as UTC. An empty text
// gives the zero time, which means unknown.
func parseDate(s string) (date time.Time, ok bool) {
	s = strings.ToUpper(strings.TrimSpace(plainSpaces.Replace(clean(s))))
	if s == "" {
		return time.Time{}, true
	}
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		t = t.UTC()
		if err == nil && t.Year() >= 1 && t.Year() <= 9999 { // a zone can push it out of the years that JSON and Postgres write alike
			return t, true
		}
	}
	return time.Time{}, false
}
