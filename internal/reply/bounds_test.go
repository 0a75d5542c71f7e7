package reply

import (
	"errors"
	"strings"
	"testing"
)

// Input as long as a limit is still parsed. One byte more makes it plain text, or cuts it.
func TestBounds(t *testing.T) {
	t.Parallel()
	const known, strange = "https://docs.example/", "http://evil.example/"
	of := func(begin string, length int) string { return begin + strings.Repeat("x", length-len(begin)) }
	for name, c := range map[string]struct{ text, want string }{
		"an open bracket of 500":    {of("[", 500) + "](" + strange + ")", of("", 499)},
		"a longer one":              {of("[", 501) + "](" + strange + ")", of("[", 501) + "] (" + removed + ")"},
		"a target of 2,047":         {"[a](" + of(strange, 2047) + ")", "a"},
		"a longer one, 2,048":       {"[a](" + of(strange, 2048) + ")", "[a] (" + removed},
		"an address of 2,048 bytes": {of(known, 2048) + " b", of(known, 2048) + " b"},
		"a longer address":          {of(known, 2049) + " b", removed + " b"},
		"a mail domain of 2,048":    {"a" + of("@b.", 2048), "a " + of("@b.", 2048)},
	} {
		answer, _ := checked(t, []string{of(known, 2048) + " " + of(known, 2049)}, c.text)
		if got := answer.text; got != c.want {
			t.Errorf("%s: %d bytes became %d: %.40q … %q", name, len(c.text), len(got), got, got[max(0, len(got)-40):])
		}
	}
	for length, full := range map[int]bool{32_768: false, 32_769: true} {
		c := New(nil, nil)
		err := c.Write(of("", length))
		if errors.Is(err, ErrFull) != full || c.Close() != nil || len(c.Text()) != 32_768 {
			t.Errorf("of %d bytes %d are left: %v", length, len(c.Text()), err)
		}
	}
}
