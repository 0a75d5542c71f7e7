package export

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Years of dates that are meant.
const firstYear, lastYear = 1900, 2199

// What is wrong with a date. The message starts with the value.
var (
	errNoDate    = errors.New("is not a date")
	errWhichDate = errors.New("may have the day or the month first, and the file's other dates do not tell which")
	errYear      = fmt.Errorf("is not in the years %d to %d", firstYear, lastYear)
)

// dates reads the dates of a file. Those with one possible order of day and month tell that of the
// others: nothing in 3/4/25 does.
type dates struct{ dayFirst, monthFirst bool }

var (
	// written matches 2025-03-14, 14/Mar/25, March 14, 2025 and 14.3.2025. A time and its zone may
	// follow: T09:12:33.5Z, 9:12 AM, 09:12:33 GMT+0100 (CET).
	written = regexp.MustCompile(`^(?:(?:MON|TUE|WED|THU|FRI|SAT|SUN)[A-Z]*,? )?` +
		`(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)|(\d\d?)(?:ST|ND|RD|TH)?[-/. ]+([A-Z]{3,9})[-/., ]+(\d{4}|\d\d)|([A-Z]{3,9})\.? (\d\d?)(?:ST|ND|RD|TH)?,? (\d{4})` +
		`|(\d\d?)(?:[/.](\d\d?)[/.](\d{4}|\d\d)|-(\d\d?)-(\d{4})))` +
		`(?:(?:T|,? (?:AT )?)(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?(?: ?([AP])\.?M\.?)?` +
		`(?: ?(?:Z|UTC|GMT))?(?: ?([+-]\d\d)(?::?(\d\d))?)?(?: ?UTC| ?[(\[].*[)\]])?)?$`)
	compact = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)(?:[T ]?(\d\d)(\d\d)(\d\d)?)?(\D.*)?$`) // 20250314T091200Z
	epoch   = regexp.MustCompile(`^(\d{9,10})(\d{3})?(\d{3})?(?:\.\d+)?$`)                    // in seconds, milliseconds or microseconds
	// Java writes a no-break space before AM and PM, narrow since version 20.
	plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")
)

// ParseDate reads a date in any of these forms, in any case, in UTC if it has no zone. It returns
// it in RFC 3339, or "" for an empty text.
func ParseDate(s string) (string, error) { return new(dates).parse(s) }

func (d *dates) parse(s string) (string, error) {
	s = strings.ToUpper(strings.TrimSpace(plainSpaces.Replace(clean(s))))
	if s == "" {
		return "", nil
	}
	for _, common := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} { // which cost less
		if t, err := time.Parse(common, s); err == nil {
			return stamp(t, true)
		}
	}
	if g := compact.FindStringSubmatch(s); g != nil {
		s = g[1] + "-" + g[2] + "-" + g[3]
		if g[4] != "" {
			s += " " + g[4] + ":" + g[5] + ":" + cmp.Or(g[6], "00")
		}
		s += g[7]
	} else if g := epoch.FindStringSubmatch(s); g != nil {
		micros, err := strconv.ParseInt(g[1]+cmp.Or(g[2], "000")+cmp.Or(g[3], "000"), 10, 64)
		return stamp(time.UnixMicro(micros), err == nil)
	}
	g := written.FindStringSubmatch(s)
	if g == nil {
		return "", errNoDate
	}
	if first, second := g[10], cmp.Or(g[11], g[13]); second != "" {
		year := cmp.Or(g[12], g[14])
		byDay, isDay := timeOf(year, second, first, g[15:])
		byMonth, isMonth := timeOf(year, first, second, g[15:])
		switch {
		case isDay != isMonth:
			d.dayFirst, d.monthFirst = d.dayFirst || isDay, d.monthFirst || isMonth
		case isDay && !byDay.Equal(byMonth) && d.dayFirst == d.monthFirst:
			return "", errWhichDate
		}
		if isDay && (d.dayFirst || !isMonth || byDay.Equal(byMonth)) {
			return stamp(byDay, isDay)
		}
		return stamp(byMonth, isMonth)
	}
	return stamp(timeOf(cmp.Or(g[1], g[6], g[9]), cmp.Or(g[2], g[5], g[7]), cmp.Or(g[3], g[4], g[8]), g[15:]))
}

// learn reads what a date says of the order in the file's others, and returns the date, as it is
// written if that needs them.
func (d *dates) learn(written string) string {
	var alone dates
	date, err := alone.parse(written)
	if d.dayFirst, d.monthFirst = d.dayFirst || alone.dayFirst, d.monthFirst || alone.monthFirst; err != nil {
		return written
	}
	return date
}

// timeOf returns the time of these parts, and whether there is one. rest are the hour, minute,
// second, its fraction, A or P, and the hours and minutes of the zone.
func timeOf(year, month, day string, rest []string) (time.Time, bool) {
	layout := "2006"[4-len(year):] + "-" + cmp.Or(map[int]string{1: "1", 2: "1", 3: "Jan"}[len(month)], "January") + "-2 15:4:5 -07:00"
	text := fmt.Sprintf("%s-%s-%s %s:%s:%s.%s %s:%s", year, month, day,
		cmp.Or(rest[0], "0"), cmp.Or(rest[1], "0"), cmp.Or(rest[2], "0"), cmp.Or(rest[3], "0"), cmp.Or(rest[5], "+00"), cmp.Or(rest[6], "00"))
	if rest[4] != "" {
		layout, text = strings.Replace(layout, "15", "3", 1)+" PM", text+" "+rest[4]+"M"
	}
	t, err := time.Parse(layout, text)
	return t, err == nil
}

// stamp returns a time in RFC 3339 if it is one.
func stamp(t time.Time, is bool) (string, error) {
	switch t = t.UTC(); {
	case !is:
		return "", errNoDate
	case t.Year() < firstYear || t.Year() > lastYear:
		return "", errYear
	}
	return t.Format(time.RFC3339Nano), nil
}
