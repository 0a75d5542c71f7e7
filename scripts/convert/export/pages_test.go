package export

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The pages of a search say whether there are others.
func TestMissingPages(t *testing.T) {
	t.Parallel()
	number := 0
	page := func(issues int, says string) string {
		var list []string
		for range issues {
			number++
			list = append(list, fmt.Sprintf(`{"key":"A-%d","fields":{"summary":"n","created":"2025-03-14"}}`, number))
		}
		return `{"issues":[` + strings.Join(list, ",") + `],` + says + `}`
	}
	const follows, before, after = "another follows", "the page beside it is missing", "the page beside it is missing"
	for i, c := range []struct {
		missing string
		pages   []string
	}{
		{"", []string{page(2, `"isLast":true`)}},
		{"", []string{page(2, `"isLast":false,"nextPageToken":"x"`), page(1, `"isLast":true`)}},
		{"", []string{page(2, `"nextPageToken":"x"`), page(1, `"expand":""`)}},
		{follows, []string{page(2, `"isLast":false`)}},
		{follows, []string{page(2, `"nextPageToken":"x"`)}},
		{follows, []string{page(1, `"isLast":true`), page(2, `"isLast":false`)}},
		{follows, []string{page(2, `"pageInfo":{"hasNextPage":true,"endCursor":"x"}`)}},
		{"", []string{page(2, `"pageInfo":{"hasNextPage":false}`)}},
		{"", []string{page(2, `"startAt":0,"maxResults":50,"total":2`)}},
		{"", []string{page(1, `"startAt":2,"total":3`), page(2, `"startAt":0,"total":3`)}}, // in any order
		{"", []string{page(2, `"startAt":0,"total":2`), page(2, `"startAt":0,"total":3`), page(1, `"startAt":2,"total":3`)}},
		{"", []string{page(2, `"total":3`), page(1, `"total":3`), page(1, `"total":1`)}},
		{after, []string{page(2, `"startAt":0,"maxResults":2,"total":3`)}},
		{after, []string{page(0, `"startAt":0,"maxResults":0,"total":3`)}},
		{after, []string{page(2, `"total":3`)}},
		{after, []string{page(1, `"startAt":0,"total":1`), page(2, `"startAt":0,"total":9`)}},
		{before, []string{page(1, `"startAt":2,"total":3`)}},
		{after, []string{page(2, `"startAt":0,"total":6`), page(2, `"startAt":4,"total":6`)}},
	} {
		together, apart := t.TempDir(), t.TempDir()
		write(t, together, map[string]string{"x.json": strings.Join(c.pages, "\n")})
		for n, text := range c.pages {
			write(t, apart, map[string]string{fmt.Sprintf("page-%d.json", n): text})
		}
		for _, path := range []string{filepath.Join(together, "x.json"), apart} {
			r := open(t, path)
			all(t, r.Projects())
			all(t, r.Tickets())
			if why := r.Incomplete(); !strings.Contains(why, c.missing) || (why == "") != (c.missing == "") || strings.Contains(strings.Join(r.Notices(), "\n"), "the files are incomplete: "+why) != (why != "") {
				t.Errorf("%d: %q, want %q; %q", i, why, c.missing, r.Notices())
			}
		}
	}
}

// Issues without fields are one message, which says what to ask for.
func TestIssuesWithoutFields(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"ids":  `{"issues":[{"id":"1"},{"id":"2"}],"nextPageToken":"x","isLast":false}`,
		"keys": `{"issues":[{"id":"1","key":"A-1","self":"x","fields":{}},{"id":"2","key":"A-2"}],"isLast":true}`,
		"self": `[{"id":"1","self":"x"},{"id":"2"}]`,
		"list": `[{"expand":"","id":"1","key":"A-1"},{"id":"2","key":"A-2"}]`,
	} {
		r := open(t, writeOne(t, "x.json", file))
		good, bad, fatal := collect(t, r.Tickets())
		if len(good) != 0 || fatal != nil || len(bad) != 1 || !strings.Contains(bad[0].Reason, "2 issues have no fields") || !strings.Contains(bad[0].Reason, "fields=*all") {
			t.Errorf("%s: %v, %v, %v", name, good, bad, fatal)
		}
		if (r.Incomplete() != "") != (name == "ids") {
			t.Errorf("%s: %q", name, r.Incomplete())
		}
	}
}

// A file that is cut off says so, and where, before anything of it is imported.
func TestCutOffFiles(t *testing.T) {
	t.Parallel()
	whole := `[{"number":1,"title":"n","url":"https://github.com/a/s/issues/1"},` + "\n" + `{"number":2,"title":"n","url":"https://github.com/a/s/issues/2"}]`
	for _, left := range []int{len(whole) - 1, len(whole) - 20, len(whole) / 2} {
		_, _, fatal := collect(t, open(t, writeOne(t, "x.json", whole[:left])).Projects())
		if fatal == nil || !strings.Contains(fatal.Error(), "it is cut off: after issue ") || !strings.Contains(fatal.Error(), fmt.Sprintf("offset %d", left)) {
			t.Errorf("%d of %d bytes: %v", left, len(whole), fatal)
		}
	}
	for name, c := range map[string]struct{ text, says string }{
		"cut.json":   {whole[:20], "it is cut off"},
		"page.json":  {`{"issues":[{"key":"A-1","fields":{"summary":"n"}},{"key":"A-2"`, "it is cut off"},
		"empty.json": {"", "the file is empty"},
	} {
		if _, err := Open(writeOne(t, name, c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
