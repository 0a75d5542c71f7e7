package chunk_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/chunk"
	"tasklens/internal/tokenizer"
)

// names are the kinds of text in a fixed order.
var names = slices.Sorted(maps.Keys(kinds))

// Chunks are of similar size if no place is better than another.
func TestSplitBalances(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	for _, test := range []struct{ tokens, chunks, size int }{
		{501, 2, 288}, {600, 2, 338}, {700, 2, 388}, {775, 2, 425}, {776, 3, 309}, {1125, 3, 425}, {5000, 15, 404},
	} {
		chunks := split(t, tokens, strings.Repeat(" word", test.tokens))
		if len(chunks) != test.chunks {
			t.Errorf("%d tokens give %d chunks, want %d", test.tokens, len(chunks), test.chunks)
		}
		for i, c := range chunks {
			if c.Tokens < test.size-5 || c.Tokens > test.size+5 {
				t.Errorf("%d tokens: chunk %d has %d, want about %d", test.tokens, i, c.Tokens, test.size)
			}
		}
	}
}

func TestSplitShortTexts(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	if chunks := chunk.Split(tokens, ""); chunks != nil {
		t.Errorf("the empty text gives %v", chunks)
	}
	for _, text := range []string{"a", " ", "\n\n", "\x00", "é", "漢字", strings.Repeat(" ", 3000), "<|endoftext|>"} {
		if chunks := split(t, tokens, text); len(chunks) != 1 {
			t.Errorf("%.10q gives %d chunks", text, len(chunks))
		}
	}
}

func TestSplitReplacesInvalidUTF8(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	for _, text := range []string{"a\xffb", strings.Repeat("card \xe2\x82 charged \x80twice ", 200)} {
		want := split(t, tokens, strings.ToValidUTF8(text, "\uFFFD"))
		if got := chunk.Split(tokens, text); !slices.Equal(got, want) {
			t.Errorf("%.10q: other chunks than those of the replaced text", text)
		}
	}
}

func TestSplitPrefersBetterPlaces(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	const sentence = " The checkout page charges the card twice when the session of the customer expires." // 15 tokens
	block := func(sentences int) string { return strings.TrimSpace(strings.Repeat(sentence, sentences)) }
	for _, test := range []struct {
		name  string
		text  string
		end   string // the first chunk's last characters
		after string // the text's next ones
		start string // the second chunk's first ones
	}{
		{"paragraph over line and sentence", block(15) + "\n\n" + block(5) + "\n" + block(30), "expires.", "\n\nThe", "The"},
		{"paragraph of Windows lines", block(15) + "\r\n\r\n" + block(5) + "\r\n" + block(30), "expires.", "\r\n\r\n", "The"},
		{"line over sentence", block(15) + "\n" + block(35), "expires.", "\nThe", "The"},
		{"sentence over word", block(50), "expires.", " The", "The"},
		{"sentence with a quote", strings.ReplaceAll(block(50), ".", ".\""), "expires.\"", " The", "The"},
		{"word", strings.ReplaceAll(block(50), ".", ""), "", " ", ""},
		{"wide full stop", strings.Repeat("支払いが二重に発生しています。", 60), "。", "支", "支"},
		{"wide full stop in brackets", strings.Repeat("「支払いが二重に発生しています。」", 60), "。」", "「", "「"},
		{"clause in a run without spaces", strings.Repeat("支払いが二重に発生しています、", 60), "、", "支", "支"},
		{"overlap at a line", block(19) + "\n" + block(4) + "\n\n" + block(30), "expires.", "\n\nThe", "The"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			chunks := split(t, tokens, test.text)
			first, second := chunks[0], chunks[1]
			if !strings.HasSuffix(first.Text, test.end) || !strings.HasPrefix(test.text[first.End:], test.after) {
				t.Errorf("the first chunk ends %q before %q", last(first.Text, 20), test.text[first.End:first.End+10])
			}
			if before := test.text[second.Start-1]; !strings.HasPrefix(second.Text, test.start) || strings.Contains(test.text, " ") && before != ' ' && before != '\n' {
				t.Errorf("the second chunk begins %q", second.Text[:20])
			}
		})
	}
}

// A user-perceived character stays together even if it consists of several code points.
func TestSplitKeepsVisibleCharacters(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	for _, unit := range []string{"👩‍👩‍👧", "👍🏽", "e\u0301", "\r\n", "❤️"} {
		for i, c := range split(t, tokens, strings.Repeat(unit, 2000)) {
			if c.Start%len(unit) != 0 || c.End%len(unit) != 0 {
				t.Errorf("chunk %d of a run of %q is cut within one", i, unit)
			}
		}
	}
}

func TestSplitProperties(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "kinds")
		seed := rapid.Uint64().Draw(t, "seed")
		size := rapid.IntRange(4, 6000).Draw(t, "size")
		split(t, tokens, write(seed, size, kinds...))
	})
}

// Lengths around those where the number of chunks changes.
func TestSplitPropertiesAroundTheLimits(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"words", "sentences", "paragraphs", "code", "json", "han", "noise"}).Draw(t, "kind")
		count := rapid.OneOf(rapid.IntRange(498, 503), rapid.SampledFrom([]int{700, 775, 776})).Draw(t, "tokens")
		text := exactly(t, tokens, write(rapid.Uint64().Draw(t, "seed"), 2500, kind), count)
		if chunks := split(t, tokens, text); (len(chunks) == 1) != (count <= chunk.Max) {
			t.Fatalf("%d tokens give %d chunks", count, len(chunks))
		}
	})
}

// If a chunk of these texts changes, Version must change: stored embeddings would no longer match
// the output of Split.
func TestVersionNamesTheResult(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	digest := sha256.New()
	for _, name := range []string{"words", "sentences", "paragraphs", "code", "json", "han", "emoji", "latin", "digits"} {
		for _, c := range chunk.Split(tokens, write(4, 6000, name)) {
			fmt.Fprintln(digest, c.Start, c.End, c.Overlap, c.Tokens)
		}
	}
	fmt.Fprintln(digest, chunk.Input(chunk.Header(tokens, "Checkout", strings.Repeat("card ", 100)), "text"))
	got := fmt.Sprintf("%d:%s", chunk.Version, hex.EncodeToString(digest.Sum(nil))[:16])
	if want := "1:62d3931506bc5753"; got != want {
		t.Errorf("the result is %s, was %s: raise Version and note the new one here", got, want)
	}
}

func last(text string, size int) string { return text[max(0, len(text)-size):] }
