package search_test

import (
	"html"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/testbed"
)

// Texts and queries consist of the same pieces, so that most queries match.
var pieces = []string{
	"café", "cafe\u0301", "cafe", "東京", "東京都", "都", "設定画面", "ﾕｰｻﾞｰ", "결제오류", "\u1112\u1161\u11ab", "การชำระ", "e\u0301\u0323", "\u0301", "\u3099", "が", "か\u3099",
	"TableView", "tableview", "C++", "C#", "Cplusplus", "csharp", ".NET", "log in", "login", "ERR_51", "Ti.UI", "<b>", "</mark>", "<mark>", "&amp;", "&", "\"", "'", "-", " ", " ", "\n", "\u200b",
	"🔥", "\ue000", "\ue001", "\ue005", "\ue006", "\ue007", "http://x.example.com/a?b=1", "naïve", "ÅNGSTRÖM", "123", "1.2.3",
}

// Marks are balanced and never nested, and a text that is shown whole is unchanged.
func TestHighlightOfAnyText(t *testing.T) {
	t.Parallel()
	db := testbed.Connect(t, testbed.Database(t).OwnerURL)
	drawn := func(t *rapid.T, name string) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, name), "")
	}
	rapid.Check(t, func(r *rapid.T) {
		text, query := drawn(r, "text"), strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(r, "query"), rapid.SampledFrom([]string{"", " "}).Draw(r, "joint"))
		if rapid.Bool().Draw(r, "cut") {
			text = strings.Repeat("before it ", 40) + text + strings.Repeat(" behind", 40)
		}
		var line, whole string
		err := db.QueryRow(t.Context(), `select tasklens.highlight($1, (tasklens.parse_query($2)).wanted), regexp_replace(tasklens.compose_text($1), '[\ue000-\ue007]', '', 'g')`,
			text, query).Scan(&line, &whole)
		if err != nil {
			r.Fatalf("query %q, text %q: %v", query, text, err)
		}
		open := false
		for _, mark := range strings.SplitAfter(line, "mark>") {
			switch {
			case strings.HasSuffix(mark, "<mark>"):
				if open {
					r.Fatalf("query %q, text %q: nested marks: %q", query, text, line)
				}
				open = true
			case strings.HasSuffix(mark, "</mark>"):
				if !open {
					r.Fatalf("query %q, text %q: closing mark without an opening one: %q", query, text, line)
				}
				open = false
			}
		}
		if open {
			r.Fatalf("query %q, text %q: mark without a closing one: %q", query, text, line)
		}
		unmarked := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(line)
		if strings.ContainsAny(unmarked, "<>\"'") {
			r.Fatalf("query %q, text %q: unescaped characters: %q", query, text, line)
		}
		if shown := html.UnescapeString(unmarked); len(whole) <= 200 && shown != whole {
			r.Fatalf("query %q, text %q: shown as %q, want %q", query, text, shown, whole)
		}
	})
}
