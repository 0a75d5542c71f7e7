package search_test

import (
	"regexp"
	"strings"
	"testing"

	"tasklens/internal/testbed"
)

var marks = regexp.MustCompile(`</?mark>|&(lt|gt|amp|quot|#39);`)

// Whatever a user types, the database parses it as a query, searches by it, and marks its words in
// a text as safe HTML.
func FuzzQueryText(f *testing.F) {
	for _, query := range []string{
		"", "charged twice", `"charged twice" -refund`, `-"a b" "`, "TX-400 tx 400", "Ti.UI.TableView", "résumé 日本語 テスト", "a & b | !c <-> (d:*)",
		"\\ ' '' :A 'x':1B", "- -- --x \"\" \"-\"", "\u0301\u200d🙂", "<b>&amp;</mark>", strings.Repeat("a1 ", 700),
	} {
		f.Add(query, "Customer <b>charged</b> twice & \"refunded\" by Ti.UI.TableView")
	}
	db := testbed.Connect(f, testbed.Database(f).OwnerURL)
	f.Fuzz(func(t *testing.T, query, text string) {
		query, text = storable(query), storable(text)
		var line string
		var found int
		err := db.QueryRow(t.Context(), `select tasklens.highlight($2, (tasklens.parse_query($1)).wanted),
			(select count(*) from public.search_by_keyword($1, 10))`, query, text).Scan(&line, &found)
		if err != nil {
			t.Fatalf("query %q, text %q: %v", query, text, err)
		}
		if strings.ContainsAny(marks.ReplaceAllString(line, ""), `<>&"'`) {
			t.Errorf("query %q, text %q: unescaped characters: %q", query, text, line)
		}
		if strings.Count(line, "<mark>") != strings.Count(line, "</mark>") {
			t.Errorf("query %q, text %q: unbalanced marks: %q", query, text, line)
		}
	})
}

// storable returns a text as it reaches the database: valid characters without U+0000, of bounded
// length.
func storable(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	runes := []rune(text)
	return string(runes[:min(len(runes), 2000)])
}
