package export

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	at := func(hour, minute, second, nano int) string {
		return time.Date(2025, 3, 14, hour, minute, second, nano, time.UTC).Format(time.RFC3339Nano)
	}
	for text, want := range map[string]string{
		"":                              "",
		"  ":                            "",
		"14/Mar/25 9:12 AM":             at(9, 12, 0, 0),
		"14/Mar/25 9:12 PM":             at(21, 12, 0, 0),
		"14/Mar/25 0:10 PM":             at(12, 10, 0, 0),
		"14/Mar/25 12:05 AM":            at(0, 5, 0, 0),
		"14/Mar/25 09:12\u202fpm":       at(21, 12, 0, 0),
		"14/Mar/25 9:12\u00a0AM":        at(9, 12, 0, 0),
		"14/mar/25 09:12":               at(9, 12, 0, 0),
		"14/Mar/25 21:12":               at(21, 12, 0, 0),
		"14/MAR/25":                     at(0, 0, 0, 0),
		"14/Mar/2025 9:12 am":           at(9, 12, 0, 0),
		"14/Mar/2025 21:12":             at(21, 12, 0, 0),
		"14/Mar/2025":                   at(0, 0, 0, 0),
		"4/Mar/25 1:02 AM":              "2025-03-04T01:02:00Z",
		"14/03/25 09:12":                at(9, 12, 0, 0),
		"14/3/25 9:12 AM":               at(9, 12, 0, 0),
		"14/03/2025 9:12 pm":            at(21, 12, 0, 0),
		"14/03/25":                      at(0, 0, 0, 0),
		"3/14/25 9:12 AM":               at(9, 12, 0, 0), // 14 cannot be a month
		"03/14/2025":                    at(0, 0, 0, 0),
		"21/11/26 10:00":                "2026-11-21T10:00:00Z",
		"4/4/25 1:02 AM":                "2025-04-04T01:02:00Z", // same in either order
		"14.3.2025":                     at(0, 0, 0, 0),
		"14.03.25, 09:12":               at(9, 12, 0, 0),
		"14-03-2025 09:12":              at(9, 12, 0, 0),
		"2025/3/14 9:12":                at(9, 12, 0, 0),
		"2025.03.14":                    at(0, 0, 0, 0),
		"14-Mar-2025":                   at(0, 0, 0, 0),
		"14-Mar-25 09:12:33":            at(9, 12, 33, 0),
		"14 March 2025 9:12 a.m.":       at(9, 12, 0, 0),
		"Mar 14, 2025, 9:12 PM":         at(21, 12, 0, 0),
		"March 14, 2025 at 9:12 AM":     at(9, 12, 0, 0),
		"Fri, 14 Mar 2025 09:12:33 GMT": at(9, 12, 33, 0),
		"Friday, March 14, 2025":        at(0, 0, 0, 0),
		"Friday, March 14th, 2025":      at(0, 0, 0, 0),
		"14th March 2025 9:12":          at(9, 12, 0, 0),
		"Fri Mar 14 2025 09:12:33 GMT-0330 (Newfoundland)": at(12, 42, 33, 0),
		"20250314":                                 at(0, 0, 0, 0),
		"20250314T091233Z":                         at(9, 12, 33, 0),
		"20250314T091233.5+0200":                   at(7, 12, 33, 500_000_000),
		"20250314 0912":                            at(9, 12, 0, 0),
		"20250314091233":                           at(9, 12, 33, 0),
		"1741943553":                               at(9, 12, 33, 0),
		"1741943553.25":                            at(9, 12, 33, 0),
		"1741943553500":                            at(9, 12, 33, 500_000_000),
		"1741943553500000":                         at(9, 12, 33, 500_000_000),
		"2025-03-14 09:12:33 +0200":                at(7, 12, 33, 0),
		"2025-03-14 09:12:33 UTC":                  at(9, 12, 33, 0),
		"2025-03-14 09:12:33.5 +0000 UTC":          at(9, 12, 33, 500_000_000),
		"2025-03-14T09:12:33+01:00[Europe/Berlin]": at(8, 12, 33, 0),
		"2025-03-14T09:12:33,123Z":                 at(9, 12, 33, 123_000_000),
		"2025-03-14":                               at(0, 0, 0, 0),
		" 2025-03-14 09:12 ":                       at(9, 12, 0, 0),
		"2025-03-14 09:12:33":                      at(9, 12, 33, 0),
		"2025-03-14 09:12:33.5":                    at(9, 12, 33, 500_000_000),
		"2025-03-14 09:12:33.123456+02":            at(7, 12, 33, 123_456_000),
		"2025-03-14 09:12:33+02:00":                at(7, 12, 33, 0),
		"2025-03-14 09:12:33+0200":                 at(7, 12, 33, 0),
		"2025-03-14T09:12":                         at(9, 12, 0, 0),
		"2025-03-14T09:12:33":                      at(9, 12, 33, 0),
		"2025-03-14T09:12:33Z":                     at(9, 12, 33, 0),
		"2025-03-14t09:12:33z":                     at(9, 12, 33, 0),
		"2025-03-14T09:12:33.000+0200":             at(7, 12, 33, 0),
		"2025-03-14T09:12:33.123456-05:30":         at(14, 42, 33, 123_456_000),
	} {
		got, err := ParseDate(text)
		if err != nil || got != want {
			t.Errorf("date %q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"soon": errNoDate, "31/Feb/25": errNoDate, "2025-13-01": errNoDate, "14/Mar/25 25:00": errNoDate, "14/Mrz/25": errNoDate,
		"174194": errNoDate, "2025-03-14 09:60": errNoDate, "14/Mar/25 13:00 AM": errNoDate, "25-03-14": errNoDate, "14.3.20251": errNoDate,
		"2025-03-14 09:12 CET": errNoDate, "29/Feb/2025": errNoDate, "12345678901234567890": errNoDate, "14/Marx/25": errNoDate, "version 1.2.2025": errNoDate,
		"1899-12-31": errYear, "2200-01-01": errYear, "0001-01-01T00:00:00Z": errYear, "9999-12-31": errYear, "2025-03-14x": errNoDate, "\x00 x": errNoDate, "31/02/25": errNoDate, "13/13/25": errNoDate, "14/03": errNoDate,
		"0000-01-01": errYear, "9999-12-31T23:00:00-05:00": errYear, "0001-01-01T00:00:00+05:00": errYear,
		"3/4/25 9:12 AM": errWhichDate, "03/04/2025": errWhichDate, "12/11/26 10:00": errWhichDate,
	} {
		if got, err := ParseDate(text); err != want {
			t.Errorf("date %q: got %v, %v, want the error %v", text, got, err, want)
		}
	}
}

// A date whose order of day and month is unclear is read as the file's others show.
func TestOrderOfDayAndMonth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others []string
		want   string
		err    error
	}{
		{nil, "", errWhichDate},
		{[]string{"21.11.2026", "soon", "5/5/2025"}, "2025-04-03T00:00:00Z", nil},
		{[]string{"11/21/26 9:12 AM"}, "2025-03-04T00:00:00Z", nil},
		{[]string{"21/11/2026", "11/21/2026"}, "", errWhichDate},
	} {
		d := new(dates)
		for _, other := range c.others {
			_, _ = d.parse(other)
		}
		if got, err := d.parse("03/04/2025"); got != c.want || err != c.err {
			t.Errorf("beside %q: %q, %v", c.others, got, err)
		}
	}
}

// What the file shows counts for its dates before that, too, in every format.
func TestOrderOfTheWholeFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	lines := ""
	for i, created := range []string{"03/04/2025", "3/14/2025", "soon"} {
		lines += fmt.Sprintf(`{"ticket_id":"S-%d","project_id":"S","name":"n","created_at":%q,"due_date":"1.2.2025","comments":[{"body":"c","created_at":"5/6/2025"}]}`+"\n", i, created)
	}
	write(t, folder, map[string]string{"projects.jsonl": oneProject, "tickets.jsonl": lines})
	for path, r := range map[string]*Reader{
		"lines": open(t, folder),
		"csv":   openCSV(t, "Issue key,Summary,Created,Due date,Comment\nS-0,n,03/04/2025,1.2.2025,5/6/2025;ann;c\nS-1,n,3/14/2025,,\nS-2,n,soon,,\n"),
	} {
		all(t, r.Projects())
		got := all(t, r.Tickets())
		if got[0].CreatedAt != on(3, 4, 0, 0) || got[0].DueDate != given(on(1, 2, 0, 0)) || got[0].Comments[0].CreatedAt != on(5, 6, 0, 0) || got[2].CreatedAt != "" || len(got[2].Warnings) != 1 {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A creation date that cannot be read is that of the update, else of the resolution, else of the
// import, which is counted.
func TestUnreadableCreation(t *testing.T) {
	t.Parallel()
	r := openCSV(t, "Issue key,Summary,Created,Updated,Resolved,Comment\nS-1,n,soon,15/Mar/25,16/Mar/25,\"x;ann;text\"\nS-2,n,soon,later,16/Mar/25,\nS-3,n,31.02.2025,,,\nS-4,n,14/Mar/25,,,99/99/99;ann;c\n")
	got := all(t, r.Tickets())
	for i, want := range []string{on(3, 15, 0, 0), on(3, 16, 0, 0), "", on(3, 14, 0, 0)} {
		if got[i].CreatedAt != want {
			t.Errorf("%s: created at %q, want %q", got[i].Key, got[i].CreatedAt, want)
		}
	}
	const remark = "tickets without a creation date that can be read: new ones get "
	for _, want := range []string{remark + "that of their update: 1", remark + "that of their resolution: 1", remark + "the day of the import: 1"} {
		if !slices.Contains(r.Notices(), want) {
			t.Errorf("the notices are %q", r.Notices())
		}
	}
	comment := one(t, openTickets(t, `{"ticket_id":"S-1","project_id":"S","name":"n","created_at":"2025-03-14","comments":[{"key":"1","body":"c","created_at":"soon"},{"key":"2","body":"c","created_at":"soon","updated_at":"2025-03-15"}]}`).Tickets())
	if comment.Comments[0].CreatedAt != on(3, 14, 0, 0) || comment.Comments[1].CreatedAt != on(3, 15, 0, 0) || len(comment.Warnings) != 1 {
		t.Errorf("comments: %+v, %v", comment.Comments, comment.Warnings)
	}
}
