package querytext

import (
	"testing"
	"time"
)

// A day that a month lacks becomes the month's last day, not one of the next month.
func TestAddMonths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{
		{"2025-08-31", -6, "2025-02-28"}, {"2024-08-31", -6, "2024-02-29"}, {"2024-02-29", -12, "2023-02-28"}, {"2025-01-15", -1, "2024-12-15"},
		{"2025-12-31", 2, "2026-02-28"}, {"2025-05-31", 0, "2025-05-31"}, {"2025-03-31", -1201, "1925-02-28"},
	} {
		from, err := time.Parse(time.DateOnly, c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := addMonths(from, c.months).Format(time.DateOnly); got != c.want {
			t.Errorf("%s plus %d months is %s, want %s", c.from, c.months, got, c.want)
		}
	}
}
