package chunk_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tasklens/internal/chunk"
	"tasklens/internal/tokenizer"
)

// cards is a name of this many tokens.
func cards(tokens int) string { return strings.TrimSpace(strings.Repeat("card ", tokens)) }

func TestHeader(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"", " \n"}, ""},
		{[]string{"Checkout"}, "Checkout"},
		{[]string{"Checkout", ""}, "Checkout"},
		{[]string{"Checkout", "Card charged twice"}, "Checkout — Card charged twice"},
		{[]string{" Check\n\nout ", "Card\tcharged  twice"}, "Check out — Card charged twice"},
		{[]string{"Check\xffout"}, "Check\uFFFDout"},
		{[]string{cards(64)}, cards(64)},
		{[]string{cards(65)}, cards(64)},
		{[]string{cards(63), "charged twice"}, cards(63)}, // the dash is the last token that fits
		{[]string{"Checkout", strings.Repeat("card ", 100)}, "Checkout — " + cards(62)},
	} {
		if got := chunk.Header(tokens, test.names...); got != test.want {
			t.Errorf("%.40q: %q, want %q", test.names, got, test.want)
		}
	}
}

func TestHeaderIsShortWhateverTheNames(t *testing.T) {
	t.Parallel()
	tokens := tokenizer.Load()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(names).Draw(t, "kind")
		name := write(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 2000).Draw(t, "size"), kind)
		header := chunk.Header(tokens, name, name)
		whole := strings.Join(strings.Fields(name), " ")
		if whole != "" {
			whole += " — " + whole
		}
		count := len(tokens.Lengths(header))
		if count > chunk.MaxHeader || !utf8.ValidString(header) || !strings.HasPrefix(whole, header) {
			t.Fatalf("%q has %d tokens", header, count)
		}
		if header != whole && count < chunk.MaxHeader-10 {
			t.Fatalf("cut to %d tokens, could have %d", count, chunk.MaxHeader)
		}
	})
}

func TestHeaderMeasuresLittleOfAHugeName(t *testing.T) {
	t.Parallel()
	metered := &meter{Tokenizer: tokenizer.Load()}
	chunk.Header(metered, strings.Repeat("=", 1<<20))
	if limit := 32 << 10; metered.bytes > limit {
		t.Errorf("%d bytes given to the tokenizer, want at most %d", metered.bytes, limit)
	}
}
