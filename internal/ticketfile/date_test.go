package ticketfile

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	at := func(hour, minute, second, nano int) time.Time {
		return time.Date(2025, 3, 14, hour, minute, second, nano, time.UTC)
	}
	for text, want := range map[string]time.Time{
		"":                                 {},
		"  ":                               {},
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
		"4/Mar/25 1:02 AM":                 time.Date(2025, 3, 4, 1, 2, 0, 0, time.UTC),
		"14/03/25 09:12":                   at(9, 12, 0, 0),
		"14/3/25 9:12 AM":                  at(9, 12, 0, 0),
		"14/03/2025 9:12 pm":               at(21, 12, 0, 0),
		"14/03/25":                         at(0, 0, 0, 0),
		"3/14/25 9:12 AM":                  at(9, 12, 0, 0), // 14 cannot be a month
		"03/14/2025":                       at(0, 0, 0, 0),
		"21/11/26 10:00":                   time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		"4/4/25 1:02 AM":                   time.Date(2025, 4, 4, 1, 2, 0, 0, time.UTC), // same in either order
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
		got, err := parseDate(text)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("date %q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"soon": errNoDate, "31/Feb/25": errNoDate, "2025-13-01": errNoDate, "14/Mar/25 25:00": errNoDate, "14/Mrz/25": errNoDate,
		"1741943520": errNoDate, "2025-03-14x": errNoDate, "\x00 x": errNoDate, "31/02/25": errNoDate, "13/13/25": errNoDate, "14/03": errNoDate,
		"0000-01-01": errNoDate, "9999-12-31T23:00:00-05:00": errNoDate, "0001-01-01T00:00:00+05:00": errNoDate,
		"3/4/25 9:12 AM": errWhichDate, "03/04/2025": errWhichDate, "12/11/26 10:00": errWhichDate,
	} {
		if got, err := parseDate(text); err != want {
			t.Errorf("date %q: got %v, %v, want the error %v", text, got, err, want)
		}
	}
}
