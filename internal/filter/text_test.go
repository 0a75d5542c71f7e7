package filter_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/filter"
)

// now is a Sunday in its time zone but still Saturday in UTC.
var now = time.Date(2026, 3, 1, 3, 30, 0, 0, time.FixedZone("", 9*60*60))

func ExampleReadText() {
	text, filters, _, _ := filter.ReadText(`timeout is:open assignee:me -label:ios status:"in progress",blocked`, now, nil)
	fmt.Println(text, show(filters))
	// Output: timeout {"statuses":["in progress","blocked"],"open":true,"assignee":["me"],"not":{"labels":{"any":["ios"]}}}
}

func TestReadText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, filters string }{
		{"timeout", "timeout", `{}`},
		{"timeout status:Done on login", "timeout on login", `{"statuses":["Done"]}`},
		{"status:Done", "", `{"statuses":["Done"]}`},
		{"STATUS:Done Status:Done", "", `{"statuses":["Done","Done"]}`},
		{`status:"in progress" pump`, "pump", `{"statuses":["in progress"]}`},
		{"status:“in progress” pump", "pump", `{"statuses":["in progress"]}`},
		{"status:„in  progress“ pump", "pump", `{"statuses":["in progress"]}`},
		{"status:«in progress»,done", "", `{"statuses":["in progress","done"]}`},
		{"status:todo,, status:done,", "", `{"statuses":["todo","done"]}`},
		{"project:TX project:6,mob", "", `{"projects":["TX",6,"mob"]}`},
		{"project:0 project:99999999999999999999", "", `{"projects":["0","99999999999999999999"]}`},
		{"project:0000000000000000001,999999999999999999", "", `{"projects":["0000000000000000001",999999999999999999]}`},
		{"assignee:me,@ME,Noor", "", `{"assignee":["me","me","Noor"]}`},
		{"assignee:@noor assignee:o'brien", "", `{"assignee":["@noor","o'brien"]}`},
		{"no:assignee assignee:ada", "", `{"assignee":[null,"ada"]}`},
		{"no:reporter", "", `{"reporter":[null]}`},
		{"-no:assignee", "", `{"not":{"assignee":[null]}}`},
		{"reporter:ada priority:high type:bug,story", "", `{"reporter":["ada"],"types":["bug","story"],"priorities":["high"]}`},
		{"label:ios", "", `{"labels":{"any":["ios"]}}`},
		{"label:ios label:payments,cards label:de", "", `{"labels":{"any":["payments","cards"],"all":["ios","de"]}}`},
		{"-label:ios,android -label:web", "", `{"not":{"labels":{"any":["ios","android","web"]}}}`},
		{"-status:done -status:blocked pump -type:bug", "pump", `{"not":{"statuses":["done","blocked"],"types":["bug"]}}`},
		{"is:open", "", `{"open":true}`},
		{"is:Done -is:open is:closed", "", `{"open":false}`},
		// Text.
		{"http://x.example/a:b", "http://x.example/a:b", `{}`},
		{"error:42 foo:bar 10:30 is:blue no:label", "error:42 foo:bar 10:30 is:blue no:label", `{}`},
		{"is:open,done", "is:open,done", `{}`},
		{"status: done", "status: done", `{}`},
		{`status:"" status:,`, `status:"" status:,`, `{}`},
		{`status:"in progress`, `status:"in progress`, `{}`},
		{`status:"a"b`, `status:"a"b`, `{}`},
		{`"status:done is:open" pump`, `"status:done is:open" pump`, `{}`},
		{`-"is:open" is:done`, `-"is:open"`, `{"open":false}`},
		{`5" is:open 6" is:open`, `5" 6"`, `{"open":true}`},
		{`(is:open) x,is:open`, `(is:open) x,is:open`, `{}`},
		{"--is:open", "--is:open", `{}`},
		{"-pump is:open", "-pump", `{"open":true}`},
		{"", "", `{}`},
	} {
		check(t, c.query, c.text, c.filters)
	}
}

func TestReadDates(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"2025-03-01":                  `{"from":"2025-03-01","to":"2025-03-01"}`,
		"=2025-03-01":                 `{"from":"2025-03-01","to":"2025-03-01"}`,
		">2025-02-28":                 `{"from":"2025-03-01"}`,
		">=2025-02-28":                `{"from":"2025-02-28"}`,
		"<2025-03-01":                 `{"to":"2025-02-28"}`,
		"<=2025-03-01":                `{"to":"2025-03-01"}`,
		`"2025-03-01"`:                `{"from":"2025-03-01","to":"2025-03-01"}`,
		"2024-02":                     `{"from":"2024-02-01","to":"2024-02-29"}`,
		">2024-02":                    `{"from":"2024-03-01"}`,
		"2024":                        `{"from":"2024-01-01","to":"2024-12-31"}`,
		"<2024":                       `{"to":"2023-12-31"}`,
		"2025-03-01..2025-04-01":      `{"from":"2025-03-01","to":"2025-04-01"}`,
		"2025-03-01..*":               `{"from":"2025-03-01"}`,
		"..2025-04":                   `{"to":"2025-04-30"}`,
		">2025-03-01T10:00:00Z":       `{"from":"2025-03-01T10:00:00Z"}`,
		"<=2025-03-01t10:00:00+02:00": `{"to":"2025-03-01T10:00:00+02:00"}`,
		"2025-03-01T10:00:00Z..2025":  `{"from":"2025-03-01T10:00:00Z","to":"2025-12-31"}`,
		// Today is 2026-02-28 in UTC.
		"today":      `{"from":"2026-02-28","to":"2026-02-28"}`,
		"@today":     `{"from":"2026-02-28","to":"2026-02-28"}`,
		">yesterday": `{"from":"2026-02-28"}`,
		"<Tomorrow":  `{"to":"2026-02-28"}`,
		"7d":         `{"from":"2026-02-21","to":"2026-02-28"}`,
		"-7d":        `{"from":"2026-02-21","to":"2026-02-28"}`,
		">7d":        `{"from":"2026-02-21"}`,
		">=7d":       `{"from":"2026-02-21"}`,
		"<7d":        `{"to":"2026-02-20"}`,
		"<=7d":       `{"to":"2026-02-20"}`,
		">-2w":       `{"from":"2026-02-14"}`,
		"<1y":        `{"to":"2025-02-27"}`,
		">6mo":       `{"from":"2025-08-28"}`,
		"6MO..1mo":   `{"from":"2025-08-28","to":"2026-01-28"}`,
		"30d..7d":    `{"from":"2026-01-29","to":"2026-02-21"}`,
		"+7d":        `{"from":"2026-02-28","to":"2026-03-07"}`,
	} {
		check(t, "updated:"+value, "", `{"updated":`+want+`}`)
		check(t, "x -created:"+value, "x", `{"not":{"created":`+want+`}}`)
	}
	for value, want := range map[string]string{
		"7d":      `{"from":"2026-02-28","to":"2026-03-07"}`,
		"-7d":     `{"from":"2026-02-21","to":"2026-02-28"}`,
		"<7d":     `{"to":"2026-03-06"}`,
		"<=1w":    `{"to":"2026-03-07"}`,
		">7d":     `{"from":"2026-03-08"}`,
		"1mo":     `{"from":"2026-02-28","to":"2026-03-28"}`,
		"<today":  `{"to":"2026-02-27"}`,
		"2027":    `{"from":"2027-01-01","to":"2027-12-31"}`,
		"-7d..7d": `{"from":"2026-02-21","to":"2026-03-07"}`,
	} {
		check(t, "due:"+value, "", `{"due":`+want+`}`)
	}
	for _, text := range []string{
		"updated:soon", "updated:>", "updated:..", "updated:*..*", "updated:2025-13-01", "updated:2025-02-30", "updated:>9999-12-31",
		"updated:>9999y", "updated:7m", "updated:7mon", "updated:24h", "updated:2025-04-01..2025-03-01", "updated:2025-03-01,2025-03-02", "updated:2025-03-01T10:00:00Z",
		"updated:<>7d", "updated:x..2025", "updated:2025..x", "due:>2025-03-01T10:00:00Z", "updated:<0001-01-01", "updated:0000-05-01",
	} {
		check(t, text, text, `{}`)
	}
	check(t, "created:>2025-01-01 created:<2025-06-01", "", `{"created":{"from":"2025-01-02","to":"2025-05-31"}}`)
	check(t, "updated:1000-01-01..", "", `{"updated":{"from":"1000-01-01"}}`)
}

func check(t *testing.T, query, wantText, wantFilters string) {
	t.Helper()
	text, filters, _, err := filter.ReadText(query, now, nil)
	if err != nil || text != wantText || show(filters) != wantFilters {
		t.Errorf("%.80q is read as %.80q, %.300s, %v; want %.80q, %.300s", query, text, show(filters), err, wantText, wantFilters)
	}
}

// A combination that one object cannot express is an error.
func TestReadContradictions(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"is:open is:done":             "is cannot be both open and done",
		"label:a,b label:c,d":         "label has two lists of alternatives",
		"created:2024 created:2025":   "created has two ranges: write one, as in 2025-01-01..2025-03-31",
		"created:>2025 created:<2025": "created ends before it begins",
		"-created:2023 -created:2025": "created has two ranges: write one, as in 2025-01-01..2025-03-31",
		"-due:<today -due:>2020":      "due has two ranges: write one, as in 2025-01-01..2025-03-31",
	} {
		if text, filters, _, err := filter.ReadText(query, now, nil); err == nil || err.Error() != want {
			t.Errorf("%q is read as %q, %s, %v; want %s", query, text, show(filters), err, want)
		}
	}
}

// For every input: no word is lost, and the filters are those of a
// JSON object.
func FuzzRead(f *testing.F) {
	for _, query := range []string{
		`timeout is:open assignee:me -label:ios status:"in progress",blocked`, "due:<7d created:2024..2025 -updated:>2w", `a "is:open" 5" label:x`, "status:„x“ no:assignee", "due:9999y..", "label:a,b label:c,d",
		"is:open is:done", "\xff:x status:\xff", "status:done\u00a0x", "-created:<2025-01-01T00:00:00Z -created:>1y",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if !utf8.ValidString(query) || strings.ContainsRune(query, 0) {
			return
		}
		text, filters, _, err := filter.ReadText(query, now, nil)
		if err != nil {
			return
		}
		if filters.IsZero() && text != query {
			t.Errorf("%q without filters became %q", query, text)
		}
		if _, err := filter.Read([]byte(show(filters))); err != nil {
			t.Errorf("the filters of %q are %s: %v", query, show(filters), err)
		}
		// The remaining letters come from the input, in order.
		rest := []rune(query)
		for _, r := range text {
			at := 0
			for at < len(rest) && rest[at] != r && !(r == ' ' && unicode.IsSpace(rest[at])) {
				at++
			}
			if at == len(rest) {
				t.Fatalf("the text of %q is %q", query, text)
			}
			rest = rest[at+1:]
		}
	})
}

// What String writes is read as the same filters.
func TestStringIsRead(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"status:Done is:open", `status:"In Review",done project:TX -label:ios`, "label:a,b label:c no:assignee", "created:2026-01-01..2026-01-31 updated:2026-02-01",
		"due:..2026-03-01 resolved:2026-01-01..", `-assignee:"Ada Lovelace" reporter:me`, "",
	} {
		_, read, _, err := filter.ReadText(query, time.Now(), filter.Stored{})
		if err != nil {
			t.Fatal(err)
		}
		if _, again, _, err := filter.ReadText(read.String(), time.Now(), filter.Stored{}); err != nil || !reflect.DeepEqual(read, again) {
			t.Errorf("%q is written as %q, %v", query, read, err)
		}
	}
}
