package extract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"It broke. Then it worked! Why? Nobody knows":                             {"It broke.", "Then it worked!", "Why?", "Nobody knows"},
		"Moved to 4.2.1 of app.go. Took 3.5 s, e.g. at noon.":                     {"Moved to 4.2.1 of app.go.", "Took 3.5 s, e.g. at noon."},
		"Steps:\n- open it\n* close it\n1. look\n## Result":                       {"Steps:", "open it", "close it", "look", "Result"},
		"This line is so long that it has been wrapped by an\neditor here. Next.": {"This line is so long that it has been wrapped by an editor here.", "Next."},
		"Before.\n```go\nx := 1. Y\n```\nAfter.":                                  {"Before.", "After."},
		" \n\n":                                                                   nil,
	} {
		if diff := cmp.Diff(want, splitSentences(text)); diff != "" {
			t.Errorf("splitSentences(%q) (-want +got):\n%s", text, diff)
		}
	}
}
