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
		got, ok := parseDate(text)
		if !ok || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"soon", "3/4/25 9:12 AM", "31/Feb/25", "2025-13-01", "14/Mar/25 25:00", "14/Mrz/25", "1741943520", "2025-03-14x", "\x00 x",
		"0000-01-01", "9999-12-31T23:00:00-05:00", "0001-01-01T00:00:00+05:00"} {
		if got, ok := parseDate(text); ok {
			t.Errorf("%q: got %v, want no date", text, got)
		}
	}
}
