package lexicon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultIsBroad(t *testing.T) {
	t.Parallel()
	l := Default()
	concepts := map[string]bool{}
	for _, list := range l.phrases {
		for _, c := range list {
			concepts[c.Name] = true
		}
	}
	if len(l.phrases) < 500 || len(concepts) < 100 {
		t.Errorf("the lexicon has %d words and %d concepts, want at least 500 and 100", len(l.phrases), len(concepts))
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	l, err := Read(`
# a comment
[access]
login 1.5: login
  sign_in
second ~login: two_step sign_in_code
[work]
task 0.5: task login`, "weight 0\nthe\nweight 0.5\nthe login")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct {
		concepts []string
		words    int
	}{
		"logins everywhere": {[]string{"login", "task"}, 1},
		"signing in":        {[]string{"login"}, 2},
		"sign in code":      {[]string{"second"}, 3},
		"sign a contract":   {nil, 0},
		"two":               {nil, 0},
		"":                  {nil, 0},
	} {
		var stems, names []string
		for _, word := range strings.Fields(text) {
			stems = append(stems, Stem(word))
		}
		concepts, n := l.Match(stems)
		for _, c := range concepts {
			names = append(names, c.Name)
		}
		if diff := cmp.Diff(want.concepts, names); diff != "" || n != want.words {
			t.Errorf("Match(%q) spans %d words, want %d; concepts (-want +got):\n%s", text, n, want.words, diff)
		}
	}
	second, _ := l.Match([]string{"two", "step"})
	if diff := cmp.Diff([]Near{{Name: "login", Number: 1, Weight: 1.5}}, second[0].Near); diff != "" {
		t.Errorf("near concepts (-want +got):\n%s", diff)
	}
	for stem, want := range map[string]float64{"the": 0, "login": 0.5, "task": 1} {
		if got := l.Weight(stem); got != want {
			t.Errorf("Weight(%q) = %v, want %v", stem, got, want)
		}
	}
	if !l.Knows("login") || !l.Knows("the") || l.Knows("sign") || l.Knows("zebra") {
		t.Error("Knows: want common words and one-word names of concepts only")
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][2]string{
		"a concept before any field": {"login: login", ""},
		"a line without a colon":     {"[a]\nlogin", ""},
		"a concept without a name":   {"[a]\n: login", ""},
		"a concept twice":            {"[a]\nx: b\nx: c", ""},
		"a weight that is no number": {"[a]\nx much: b", ""},
		"an unknown near concept":    {"[a]\nx ~y: b", ""},
		"a bad common weight":        {"", "weight little\na"},
	} {
		if _, err := Read(files[0], files[1]); err == nil {
			t.Errorf("Read accepts %s", name)
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
