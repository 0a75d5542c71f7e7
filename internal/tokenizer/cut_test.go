package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Encoding these unbroken runs in one call would take minutes of CPU time.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", " ", "\n", "漢", "😀", "-", "7", "e\u0301", "\u0301", "the card ", "x。", " \n", "aé漢😀"} {
		text := strings.Repeat(unit, 100_000/len(unit))
		var joined strings.Builder
		for piece := range pieces(text) {
			if len(piece) == 0 || len(piece) > maxPiece {
				t.Fatalf("repeated %q: a piece has %d bytes", unit, len(piece))
			}
			if !utf8.ValidString(piece) {
				t.Fatalf("repeated %q: a piece splits a character", unit)
			}
			joined.WriteString(piece)
		}
		if joined.String() != text {
			t.Errorf("repeated %q: the pieces do not join to the text", unit)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	run := func(length int) string { return strings.Repeat("a", length) }
	for _, test := range []struct {
		name string
		text string
		want int
	}{
		{"short text", run(maxPiece), maxPiece},
		{"unbroken run at the limit", run(maxPiece + 1), maxPiece},
		{"before the last space", run(300) + " " + run(100) + " " + run(500), 401},
		{"space at the limit", run(maxPiece) + " b", maxPiece},
		{"before a full stop after a letter", run(300) + "." + strings.Repeat(".", 500), 300},
		{"after a line feed", run(10) + strings.Repeat("=", 90) + "\n" + strings.Repeat("=", 800), 101},
		{"between letter and digit", run(300) + strings.Repeat("7", 500), 300},
		{"three-byte character across the limit", strings.Repeat("漢", 400), maxPiece - maxPiece%3},
		{"emoji across the limit", "-" + strings.Repeat("😀", 400), 1 + (maxPiece-1)/4*4},
	} {
		if got := cut(test.text); got != test.want {
			t.Errorf("%s: cut at %d, want %d", test.name, got, test.want)
		}
	}
}

// Cutting where clean returns true does not change the tokens.
func TestCleanCutsPreserveTokens(t *testing.T) {
	t.Parallel()
	tokens := Load()
	char := rapid.OneOf(
		rapid.SampledFrom([]rune("aZé漢ю😀ſK'stlmdrve123٣½ \t\n\r\u00a0\u0085\u2028\u3000.,-。'\u0301\u200d\x00{}_")),
		rapid.SampledFrom([]rune(" \t\n")),
		rapid.Rune(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(char, 2, 30).Draw(t, "text"))
		whole := tokens.encode(text)
		for at, after := range text {
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			if at == 0 || !clean(before, after) {
				continue
			}
			if halves := slices.Concat(tokens.encode(text[:at]), tokens.encode(text[at:])); !slices.Equal(halves, whole) {
				t.Fatalf("%q and %q have the tokens %v, together %v", text[:at], text[at:], halves, whole)
			}
		}
	})
}
