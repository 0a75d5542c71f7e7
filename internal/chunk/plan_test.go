package chunk_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tasklens/internal/chunk"
)

// regular is a tokenizer with four bytes per token, except that the first bytes of every text are a
// token each, so that a part on its own counts differently.
type regular struct{ single int }

func (r regular) Lengths(text string) []int {
	var lengths []int
	for rest := len(text); rest > 0; {
		length := min(4, rest)
		if len(lengths) < r.single {
			length = 1
		}
		lengths = append(lengths, length)
		rest -= length
	}
	return lengths
}

// On its own, a part counts 15 tokens more than in the whole. This invalidates the best places,
// which must be dropped once counted.
func TestSplitMeasuresWhatItPlans(t *testing.T) {
	t.Parallel()
	tokenizer := regular{single: 20}
	fill := func(tokens int) string { return strings.Repeat("abcd", tokens) }
	const paragraph, line = "\n\n\n\n", "  \n " // a token each
	for _, test := range []struct{ name, text string }{
		{"an overlap of 89 tokens, alone 104", fill(295) + line + fill(89) + paragraph + fill(1600)},
		{"a chunk of 487 tokens, alone 502", fill(385) + paragraph + fill(411) + paragraph + fill(1200)},
		{"a last chunk of 487 tokens, alone 502", fill(385) + paragraph + fill(411)},
	} {
		for i, c := range chunk.Split(tokenizer, test.text) {
			if c.Tokens < chunk.Min || c.Tokens > chunk.Max || c.Tokens != len(tokenizer.Lengths(c.Text)) {
				t.Errorf("%s: chunk %d has %d tokens, says %d", test.name, i, len(tokenizer.Lengths(c.Text)), c.Tokens)
			}
			if overlap := len(tokenizer.Lengths(c.Text[:c.Overlap])); i > 0 && (overlap < chunk.MinOverlap || overlap > chunk.MaxOverlap) {
				t.Errorf("%s: chunk %d overlaps by %d tokens", test.name, i, overlap)
			}
		}
	}
}

// erratic counts every part of a text unlike the whole, so that no plan is valid.
type erratic struct {
	size        int // of the whole
	whole, part chunk.Tokenizer
}

func (e erratic) Lengths(text string) []int {
	if len(text) == e.size {
		return e.whole.Lengths(text)
	}
	return e.part.Lengths(text)
}

// single is a tokenizer for which every text is one token.
type single struct{}

func (single) Lengths(text string) []int { return []int{len(text)} }

func TestSplitEndsWhenNoPlanHolds(t *testing.T) {
	t.Parallel()
	bytewise := regular{single: 1 << 30}
	for _, size := range []int{700, 2300, 3001, 3002, 3003, 6000} {
		for _, unit := range []string{"card ", "😀", "ab𠀀"} {
			text := strings.Repeat(unit, size)
			for _, tokenizer := range []erratic{
				{len(text), regular{}, bytewise},
				{len(text), bytewise, regular{}},
				{len(text), bytewise, single{}},
			} {
				metered := &meter{Tokenizer: tokenizer}
				var joined strings.Builder
				for i, c := range chunk.Split(metered, text) {
					if !utf8.ValidString(c.Text) || !utf8.ValidString(c.Text[c.Overlap:]) {
						t.Fatalf("%d × %q: chunk %d splits a character", size, unit, i)
					}
					joined.WriteString(c.Text[c.Overlap:])
				}
				if joined.String() != text {
					t.Errorf("%d × %q: the chunks without their overlaps are not the text", size, unit)
				}
				if metered.bytes > 4*len(text) {
					t.Errorf("%d × %q: %d bytes given to the tokenizer for a text of %d", size, unit, metered.bytes, len(text))
				}
			}
		}
	}
}

// lengthy counts the end of a text as far longer than it is.
type lengthy struct{ regular }

func (l lengthy) Lengths(text string) []int {
	if strings.HasSuffix(text, "the end.") && len(text) < 2000 {
		return make([]int, 2*len(text))
	}
	return l.regular.Lengths(text)
}

// A last chunk of 250 tokens cannot be split in two, whatever it counts.
func TestSplitKeepsALastChunkTooShortToHalve(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("abcd", 420) + "\n\n" + strings.Repeat("abcd", 180) + "the end."
	if chunks := chunk.Split(lengthy{}, text); len(chunks) != 2 {
		t.Errorf("%d chunks, want 2", len(chunks))
	}
}

// A text without places to cut at is no more work than prose.
func TestSplitWorkIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", " ", "\n", "漢", "😀", "\u0301"} {
		text := strings.Repeat(unit, 1<<18/len(unit))
		metered := &meter{Tokenizer: regular{}}
		chunks := chunk.Split(metered, text)
		if metered.bytes > 4*len(text) {
			t.Errorf("%q: %d bytes given to the tokenizer for a text of %d", unit, metered.bytes, len(text))
		}
		// Each chunk adds at least Min-MaxOverlap new tokens.
		if most := len(text) / 4 / (chunk.Min - chunk.MaxOverlap); len(chunks) > most {
			t.Errorf("%q: %d chunks, want at most %d", unit, len(chunks), most)
		}
	}
}
