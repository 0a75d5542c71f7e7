package lexicon

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every line of the files is read, and every concept has words.
func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	l := loaded()
	seen := map[int]bool{}
	for phrase, concepts := range l.phrases {
		for _, c := range concepts {
			seen[c.Number] = true
			if c.Weight <= 0 || c.Field == "" || slices.ContainsFunc(c.Near, func(near *Concept) bool { return near.Number == 0 }) {
				t.Errorf("%q: concept %+v", phrase, c)
			}
		}
	}
	if lines := regexp.MustCompile(`(?m)^[^#\s\[].*`).FindAllString(conceptsText, -1); len(lines) != len(seen) || len(lines) < 200 || len(l.phrases) < 500 {
		t.Errorf("of %d lines, %d concepts and %d words are read", len(lines), len(seen), len(l.phrases))
	}
	for stem, want := range map[string]float64{"the": 0, "zebra": 1} {
		if got := Weight(stem); got != want {
			t.Errorf("%q weighs %v, want %v", stem, got, want)
		}
	}
	if !Knows("login") || !Knows("the") || Knows("zebra") {
		t.Error("Knows: want common words and one-word names of concepts only")
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	l := read(`
# a comment
[access]
login 1.5: login
  sign_in
second ~login: two_step sign_in_code
[work]
task 0.5: task login`, "weight 0\nthe\nweight 0.5\nthe login")
	for text, want := range map[string]struct {
		concepts []string
		words    int
	}{
		"logins everywhere": {[]string{"login", "task"}, 1},
		"signing in":        {[]string{"login"}, 2},
		"sign in code":      {[]string{"second"}, 3},
		"sign a contract":   {nil, 0},
		"two":               {nil, 0},
	} {
		var stems, names []string
		for _, word := range strings.Fields(text) {
			stems = append(stems, Stem(word))
		}
		concepts, n := l.match(stems)
		for _, c := range concepts {
			names = append(names, c.Name)
		}
		if diff := cmp.Diff(want.concepts, names); diff != "" || n != want.words {
			t.Errorf("Match(%q) spans %d words, want %d; concepts (-want +got):\n%s", text, n, want.words, diff)
		}
	}
	if second, _ := l.match([]string{"two", "step"}); len(second[0].Near) != 1 || second[0].Near[0].Name != "login" || second[0].Near[0].Weight != 1.5 {
		t.Errorf("near concepts: %+v", second[0].Near)
	}
	for stem, want := range map[string]float64{"the": 0, "login": 0.5} {
		if got := l.weights[stem]; got != want {
			t.Errorf("%q weighs %v, want %v", stem, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"migrations": "migrat", "failing": "fail", "ux": "ux", "über": "über", "utf8": "utf8",
		strings.Repeat("ing", 20): strings.Repeat("ing", 20),
	} {
		if got := Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}
