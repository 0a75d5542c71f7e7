package tokenizer

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// The expected ids come from OpenAI's own tokenizer, which proves that the vocabulary and the
// splitting expression are those of cl100k_base.
func TestEncodesAsOpenAI(t *testing.T) {
	t.Parallel()
	tokens := Load()
	for _, test := range []struct {
		ids    []int
		tokens []string
	}{
		{[]int{83, 1609, 5963, 374, 2294, 0}, []string{"t", "ik", "token", " is", " great", "!"}},
		{[]int{519, 85342, 34500, 479, 8997, 2191}, []string{"ant", "idis", "establish", "ment", "arian", "ism"}},
		{[]int{17, 489, 220, 17, 284, 220, 19}, []string{"2", " +", " ", "2", " =", " ", "4"}},
	} {
		text := strings.Join(test.tokens, "")
		if got := tokens.encode(text); !slices.Equal(got, test.ids) {
			t.Errorf("the ids of %q are %v, want %v", text, got, test.ids)
		}
		var lengths []int
		for _, token := range test.tokens {
			lengths = append(lengths, len(token))
		}
		if got := tokens.Lengths(text); !slices.Equal(got, lengths) {
			t.Errorf("the lengths of %q are %v, want %v", text, got, lengths)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	tokens := Load()
	for text, want := range map[string]int{
		"":                             0,
		"hello":                        1,
		"hello world":                  2,
		"<|endoftext|>":                7, // text, not a control token
		"お誕生日おめでとう":                    9,
		strings.Repeat("hello ", 3000): 3001,
		strings.Repeat("a", 1<<14):     1 << 11,
	} {
		if got := len(tokens.Lengths(text)); got != want {
			t.Errorf("%.20q (%d bytes) has %d tokens, want %d", text, len(text), got, want)
		}
	}
}

// ordinary generates texts with short unbroken runs.
func ordinary() *rapid.Generator[string] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"the", "checkout", "TX-400", "it's", "naïve", "Straße", "支払いが", "двойное", "😀", "e\u0301te\u0301",
			"...", "?!", "<|endoftext|>", "{\"id\":12345678}", "\u00a0", "if(x==nil){", "100%", "'S", "\u200d", "\r", "。", "ᾳ"}),
		rapid.StringN(1, 12, 40),
	)
	return rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(word, 1, 300).Draw(t, "words")
		gaps := rapid.SliceOfN(rapid.SampledFrom([]string{" ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\n  ", ", ", ". ", "\t"}), len(words), len(words)).Draw(t, "gaps")
		var text strings.Builder
		for i, word := range words {
			text.WriteString(strings.ToValidUTF8(word, "?"))
			text.WriteString(gaps[i])
		}
		return text.String()
	})
}

func TestCuttingPreservesTokensOfOrdinaryText(t *testing.T) {
	t.Parallel()
	tokens := Load()
	rapid.Check(t, func(t *rapid.T) {
		text := ordinary().Draw(t, "text")
		var ids []int
		for piece := range pieces(text) {
			ids = append(ids, tokens.encode(piece)...)
		}
		if want := tokens.encode(text); !slices.Equal(ids, want) {
			t.Fatalf("%d tokens when encoded in pieces, %d when encoded whole", len(ids), len(want))
		}
	})
}

func TestLengthsAddUp(t *testing.T) {
	t.Parallel()
	tokens := Load()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(rapid.OneOf(ordinary(), rapid.StringN(0, 3000, -1)).Draw(t, "text"), "?")
		sum := 0
		for _, length := range tokens.Lengths(text) {
			sum += length
		}
		if sum != len(text) {
			t.Fatalf("the lengths add up to %d, the text has %d bytes", sum, len(text))
		}
	})
}

// Because a blank line ends a token, a header is counted once for all texts that follow it.
func TestBlankLineEndsAToken(t *testing.T) {
	t.Parallel()
	tokens := Load()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(ordinary(), rapid.StringN(0, 300, -1))
		header := strings.TrimSpace(strings.ToValidUTF8(words.Draw(t, "header"), "?")) + "\n\n"
		text := strings.TrimSpace(strings.ToValidUTF8(words.Draw(t, "text"), "?"))
		if parts, whole := len(tokens.Lengths(header))+len(tokens.Lengths(text)), len(tokens.Lengths(header+text)); parts != whole {
			t.Fatalf("header and text have %d tokens separately, %d together", parts, whole)
		}
	})
}

// The library gets each byte once, in pieces of at most maxPiece.
func TestEncodesInPieces(t *testing.T) {
	t.Parallel()
	var largest, total int
	tokens := &Tokenizer{sizes: []uint8{1}, encode: func(piece string) []int {
		largest, total = max(largest, len(piece)), total+len(piece)
		return make([]int, len(piece))
	}}
	text := strings.Repeat("漢字 and kana ", 10_000)
	if got := len(tokens.Lengths(text)); got != len(text) || total != len(text) || largest > maxPiece {
		t.Errorf("%d tokens, %d bytes were encoded in pieces of up to %d bytes; the text has %d bytes", got, total, largest, len(text))
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	tokens := Load()
	text := strings.Repeat("The card was charged twice; 支払いが二重。\n", 50)
	want := tokens.Lengths(text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !slices.Equal(tokens.Lengths(text), want) {
				t.Error("a concurrent call returned another result")
			}
		})
	}
	group.Wait()
}
