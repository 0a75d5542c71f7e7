package clean

import (
	"testing"
	"unicode/utf8"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "short": "short", "ten letter": "ten letter", "zehn ünißß": "zehn ünißß", "one two three four": "one two…", "ünbrökenword": "ünbrökenw…",
	} {
		if got := Excerpt(text, 10); got != want || utf8.RuneCountInString(got) > 10 {
			t.Errorf("the excerpt of %q is %q, want %q", text, got, want)
		}
	}
}

func TestClipBytes(t *testing.T) {
	t.Parallel()
	for bytes, want := range []string{"", "a", "a", "aé", "aé", "aé", "aé", "aé🥨", "aé🥨"} {
		if got := ClipBytes("aé🥨", bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
