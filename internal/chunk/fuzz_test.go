package chunk_test

import (
	"strings"
	"testing"
)

func FuzzSplit(f *testing.F) {
	for _, name := range names {
		f.Add(write(1, 4_000, name))
	}
	tokens := cl100k(f)
	f.Fuzz(func(t *testing.T, text string) {
		if text = strings.ToValidUTF8(text, "\uFFFD"); text != "" {
			split(t, tokens, text)
		}
	})
}
