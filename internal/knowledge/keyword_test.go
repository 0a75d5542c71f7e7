package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tasklens/internal/knowledge"
)

func ExampleKeywords() {
	fmt.Println(knowledge.Keywords("How does Raft work?"))
	// Output: [raft work]
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "",
		"What is it?":                            "",
		"... - ' :: ++":                          "",
		"Raft raft RAFT!":                        "raft",
		"Why did TX-400 fail":                    "tx-400 fail",
		"set max_retries in app.yaml to 3.":      "set max_retries app.yaml",
		"Is C++ or C# faster than std::vector?":  "c++ c# faster std::vector",
		"Does plan B need 2 or 12 nodes?":        "plan need 12 nodes",
		"é e\u0301 ü 7 в":                        "",
		"水 の":                                    "水 の",
		"Does anybody know something?":           "know",
		"__init__ (dunder)":                      "__init__ dunder",
		"Ann's notes; the team’s runbook; don't": "ann notes team runbook",
		"'quoted' “Größe” des Büros":             "quoted größe des büros",
		"как работает Raft":                      "как работает raft",
		"東京 タワー":                                 "東京 タワー",
		"हिन्दी में":                             "हिन्दी में",
		"one two three four five six seven eight nine ten 11": "one two three four five six seven eight nine ten",
		"mail ann@example.org: v1.2.3-rc.1":                   "mail ann@example.org v1.2.3-rc.1",
		"read/write 100%_done":                                "read write 100 _done",
	} {
		if got := strings.Join(knowledge.Keywords(text), " "); got != want {
			t.Errorf("%q has the keywords %q, not %q", text, got, want)
		}
	}
}

func FuzzKeywords(f *testing.F) {
	for _, text := range []string{"", "How does Raft work?", "TX-400 Ti.UI.TableView naïve 支払い", "a'b 's \x00 \xff -x- \u0301\u200d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkKeywords(t, text) })
}

// checkKeywords checks all guarantees of Keywords, for any text.
func checkKeywords(t interface{ Fatalf(string, ...any) }, text string) {
	got := knowledge.Keywords(text)
	if got == nil || len(got) > 10 {
		t.Fatalf("%d keywords", len(got))
	}
	for i, word := range got {
		if word == "" || !utf8.ValidString(word) || slices.Contains(got[:i], word) || strings.ContainsFunc(word, func(r rune) bool { return r == ' ' || r == '\x00' }) {
			t.Fatalf("keyword %q of %q", word, got)
		}
	}
	if again := knowledge.Keywords(strings.Join(got, " ")); !slices.Equal(again, got) {
		t.Fatalf("%q are no keywords of themselves: %q", got, again)
	}
}
