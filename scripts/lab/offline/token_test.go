package offline

import (
	"strings"
	"testing"
)

// TestCountTokens compares the estimate with true counts of cl100k_base: it must be at least as
// high, but not much higher.
func TestCountTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		true int
	}{
		{"", 0}, {"a", 1},
		{"The quick brown fox jumps over the lazy dog.", 10},
		{strings.Repeat(" ", 64), 1},
		{"2024-05-17 12:30:59", 12},
	} {
		if got := countTokens(c.text); got < c.true || got > 2*c.true+4 {
			t.Errorf("countTokens(%.30q) = %d, and the tokenizer says %d", c.text, got, c.true)
		}
	}
}
