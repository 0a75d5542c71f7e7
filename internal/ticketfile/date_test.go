package ticketfile

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	at := func(hour, minute, second, nano int) string {
		return time.Date(2025, 3, 14, hour, minute, second, nano, time.UTC).Format(time.RFC3339Nano)
	}
	for text, want := range map[string]string{
		"":                                 "",
		"  ":                               "",
		"14/Mar/25 9:12 AM":                at(9, 12, 0, 0),
		"14/Mar/25 9:12 PM":                at(21, 12, 0, 0),
		"14/Mar/25 12:05 AM":               at(0, 5, 0, 0),
		"14/Mar/25 09:12\u202fpm":          at(21, 12, 0, 0),
		"14/Mar/25 9:12\u00a0AM":           at(9, 12, 0, 0),
		"14/mar/25 09:12":                  at(9, 12, 0, 0),
		"14/Mar/25 21:12":                  at(21, 12, 0, 0),
		"14/MAR/25":                        at(0, 0, 0, 0),
		"14/Mar/2025 9:12 am":              at(9, 12, 0, 0),
		"14/Mar/2025 21:12":                at(21, 12, 0, 0),
		"14/Mar/2025":                      at(0, 0, 0, 0),
		"4/Mar/25 1:02 AM":                 "2025-03-04T01:02:00Z",
		"14/03/25 09:12":                   at(9, 12, 0, 0),
		"14/3/25 9:12 AM":                  at(9, 12, 0, 0),
		"14/03/2025 9:12 pm":               at(21, 12, 0, 0),
		"14/03/25":                         at(0, 0, 0, 0),
		"3/14/25 9:12 AM":                  at(9, 12, 0, 0), // 14 cannot be a month
		"03/14/2025":                       at(0, 0, 0, 0),
		"21/11/26 10:00":                   "2026-11-21T10:00:00Z",
		"4/4/25 1:02 AM":                   "2025-04-04T01:02:00Z", // same in either order
		"2025-03-14":                       at(0, 0, 0, 0),
		" 2025-03-14 09:12 ":               at(9, 12, 0, 0),
		"2025-03-14 09:12:33":              at(9, 12, 33, 0),
		"2025-03-14 09:12:33.5":            at(9, 12, 33, 500_000_000),
		"2025-03-14 09:12:33.123456+02":    at(7, 12, 33, 123_456_000),
		"2025-03-14 09:12:33+02:00":        at(7, 12, 33, 0),
		"2025-03-14 09:12:33+0200":         at(7, 12, 33, 0),
		"2025-03-14T09:12":                 at(9, 12, 0, 0),
		"2025-03-14T09:12:33":              at(9, 12, 33, 0),
		"2025-03-14T09:12:33Z":             at(9, 12, 33, 0),
		"2025-03-14t09:12:33z":             at(9, 12, 33, 0),
		"2025-03-14T09:12:33.000+0200":     at(7, 12, 33, 0),
		"2025-03-14T09:12:33.123456-05:30": at(14, 42, 33, 123_456_000),
	} {
		got, err := ParseDate(text)
		if err != nil || got != want {
			t.Errorf("date %q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"soon": errNoDate, "31/Feb/25": errNoDate, "2025-13-01": errNoDate, "14/Mar/25 25:00": errNoDate, "14/Mrz/25": errNoDate,
		"1741943520": errNoDate, "2025-03-14x": errNoDate, "\x00 x": errNoDate, "31/02/25": errNoDate, "13/13/25": errNoDate, "14/03": errNoDate,
		"0000-01-01": errNoDate, "9999-12-31T23:00:00-05:00": errNoDate, "0001-01-01T00:00:00+05:00": errNoDate,
		"3/4/25 9:12 AM": errWhichDate, "03/04/2025": errWhichDate, "12/11/26 10:00": errWhichDate,
	} {
		if got, err := ParseDate(text); err != want {
			t.Errorf("date %q: got %v, %v, want the error %v", text, got, err, want)
		}
	}
}
