package extract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []sentence
	}{
		"prose":         {"It broke. Then it worked! Why? Nobody knows", plain("It broke.", "Then it worked!", "Why?", "Nobody knows")},
		"numbers":       {"Moved to 4.2.1 of app.go. Took 3.5 s.", plain("Moved to 4.2.1 of app.go.", "Took 3.5 s.")},
		"abbreviations": {"Use a tag, e.g. Latest, vs. None. Done.", plain("Use a tag, e.g. Latest, vs. None.", "Done.")},
		"quotes":        {`He said "no." Then he left.`, plain(`He said "no."`, "Then he left.")},
		"list":          {"Steps:\n- open it\n* close it\n1. look\n## Result", plain("Steps:", "open it", "close it", "look", "Result")},
		"wrapped":       {"This line is long enough that it has been wrapped by an\neditor at this place. Next.", plain("This line is long enough that it has been wrapped by an editor at this place.", "Next.")},
		"short lines":   {"one\ntwo", plain("one", "two")},
		"cjk":           {"検索が遅い。原因は不明！直した", plain("検索が遅い。", "原因は不明！", "直した")},
		"code": {"Before.\n```go\nx := 1. Y\n```\nAfter.\n    indented()\nat com.example.Main(Main.java:3)", []sentence{
			{text: "Before."}, {text: "x := 1. Y", code: true}, {text: "After."}, {text: "indented()", code: true}, {text: "at com.example.Main(Main.java:3)", code: true},
		}},
		"empty": {" \n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, splitSentences(c.text), cmp.AllowUnexported(sentence{})); diff != "" {
				t.Errorf("splitSentences(%q) (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func plain(texts ...string) (list []sentence) {
	for _, text := range texts {
		list = append(list, sentence{text: text})
	}
	return list
}
