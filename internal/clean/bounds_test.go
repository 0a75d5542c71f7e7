package clean

import (
	"errors"
	"strings"
	"testing"
)

// Input at a limit is still parsed. One more byte makes it plain text or truncates it.
func TestBounds(t *testing.T) {
	t.Parallel()
	const known, strange = "https://docs.example/", "http://evil.example/"
	of := func(begin string, length int) string { return begin + strings.Repeat("x", length-len(begin)) }
	for name, c := range map[string]struct{ text, want string }{
		"a link of 2,048 bytes":     {"[a](" + of(strange, 2043) + ")", "[a] " + removed},
		"a link of 2,049 bytes":     {"[a](" + of(strange, 2044) + ")", "[a] (" + removed + "… )"},
		"a link after 2,048 bytes":  {of("[", 2047) + "](" + strange + ")", of("[", 2047) + "]… " + removed},
		"an address of 2,048 bytes": {of(known, 2048) + " b", of(known, 2048) + " b"},
		"an address of 2,049 bytes": {of(known, 2049) + " b", of(known, 2048) + " … x b"},
	} {
		answer, _ := checked(t, []string{of(known, 2048) + " " + of(known, 2049)}, c.text)
		if got := answer.text; got != c.want {
			t.Errorf("%s: the reply to %d bytes has %d bytes: %.40q … %q", name, len(c.text), len(got), got, got[max(0, len(got)-40):])
		}
	}
	for length, full := range map[int]bool{32_768: false, 32_769: true} {
		c := NewChecker(nil, nil)
		err := c.Write(strings.Repeat("a ", length)[:length])
		if errors.Is(err, ErrFull) != full || c.Close() != nil || len(c.Text()) != 32_767 {
			t.Errorf("a text of %d bytes has %d bytes after checking: %v", length, len(c.Text()), err)
		}
	}
}

// The cost of many addresses is bounded: from some number on none counts as known.
func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	for unknown, want := range map[int]string{10: "http://a.example", maxLookups: "(link removed)"} {
		c := NewChecker([]string{"See http://a.example."}, nil)
		if err := c.Write(strings.Repeat("http://b ", unknown) + "http://a.example"); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(c.Text(), " "+want) {
			t.Errorf("after %d unknown addresses the text ends in %q", unknown, c.Text()[len(c.Text())-20:])
		}
	}
}
