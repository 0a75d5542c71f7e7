package chunk_test

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"tasklens/internal/chunk"
	"tasklens/internal/tokenizer"
)

// meter counts the bytes given to a tokenizer.
type meter struct {
	chunk.Tokenizer
	bytes int
}

func (m *meter) Lengths(text string) []int {
	m.bytes += len(text)
	return m.Tokenizer.Lengths(text)
}

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// split returns the chunks of text after checking all guarantees of Split.
func split(t failer, tokens *tokenizer.Tokenizer, text string) []chunk.Chunk {
	t.Helper()
	metered := &meter{Tokenizer: tokens}
	chunks := chunk.Split(metered, text)
	if metered.bytes > 4*len(text) {
		t.Fatalf("%d bytes given to the tokenizer for a text of %d", metered.bytes, len(text))
	}
	if total := len(tokens.Lengths(text)); total <= chunk.Max {
		if len(chunks) != 1 || chunks[0] != (chunk.Chunk{Text: text, End: len(text), Tokens: total}) {
			t.Fatalf("a text of %d tokens gives %d chunks, want itself", total, len(chunks))
		}
		return chunks
	}

	var joined strings.Builder
	for i, c := range chunks {
		if text[c.Start:c.End] != c.Text {
			t.Fatalf("chunk %d: the text is not that of bytes %d to %d", i, c.Start, c.End)
		}
		if !utf8.ValidString(c.Text) {
			t.Fatalf("chunk %d splits a character", i)
		}
		if count := len(tokens.Lengths(c.Text)); count != c.Tokens || count < chunk.Min || count > chunk.Max {
			t.Fatalf("chunk %d of %d has %d tokens, says %d", i, len(chunks), count, c.Tokens)
		}
		if i == 0 {
			if c.Overlap != 0 {
				t.Fatalf("the first chunk overlaps by %d bytes", c.Overlap)
			}
		} else {
			overlap := c.Text[:c.Overlap]
			if !utf8.ValidString(overlap) || !strings.HasSuffix(chunks[i-1].Text, overlap) || c.Start+c.Overlap != chunks[i-1].End {
				t.Fatalf("chunk %d does not begin with the end of the one before", i)
			}
			if count := len(tokens.Lengths(overlap)); count < chunk.MinOverlap || count > chunk.MaxOverlap {
				t.Fatalf("chunk %d of %d overlaps by %d tokens", i, len(chunks), count)
			}
		}
		joined.WriteString(c.Text[c.Overlap:])
	}
	if joined.String() != text {
		t.Fatalf("the chunks without their overlaps are not the text")
	}
	return chunks
}

// kinds are generators of text, by name. Each call appends some more.
var kinds = map[string]func(*rand.Rand, *strings.Builder){
	"sentences": func(r *rand.Rand, b *strings.Builder) {
		for range 3 + r.IntN(15) {
			b.WriteString(pick(r, words))
			b.WriteString(pick(r, []string{" ", " ", " ", " ", ", "}))
		}
		b.WriteString(pick(r, words) + pick(r, []string{". ", ". ", "? ", "! ", ".\" ", "… "}))
	},
	"paragraphs": func(r *rand.Rand, b *strings.Builder) {
		for range 5 + r.IntN(60) {
			b.WriteString(pick(r, words))
			b.WriteString(pick(r, []string{" ", " ", " ", ". "}))
		}
		b.WriteString(pick(r, []string{".\n\n", ".\n\n", "\n\n\n", ".\r\n\r\n", ":\n", "\n \n"}))
	},
	"words": func(r *rand.Rand, b *strings.Builder) { b.WriteString(pick(r, words) + " ") },
	"code":  func(r *rand.Rand, b *strings.Builder) { b.WriteString(pick(r, code)) },
	"json":  func(r *rand.Rand, b *strings.Builder) { b.WriteString(`{"id":` + pick(r, words) + `,"a":[1,2,3]},`) },
	"han": func(r *rand.Rand, b *strings.Builder) {
		runes(r, b, 5+r.IntN(40), 0x4E00, 0x9FA5)
		b.WriteString(pick(r, []string{"。", "，", "！", "\n"}))
	},
	"hanrun": func(r *rand.Rand, b *strings.Builder) { runes(r, b, 50, 0x4E00, 0x9FA5) },
	"emoji": func(r *rand.Rand, b *strings.Builder) {
		b.WriteString(pick(r, []string{"😀", "👩‍👩‍👧", "👍🏽", "🇫🇷", "❤️", "🏳️‍🌈"}))
	},
	"marks": func(r *rand.Rand, b *strings.Builder) {
		b.WriteRune('a' + rune(r.IntN(26)))
		runes(r, b, r.IntN(30), 0x300, 0x36F)
	},
	"thai":   func(r *rand.Rand, b *strings.Builder) { runes(r, b, 10, 0xE01, 0xE3A) },
	"rare":   func(r *rand.Rand, b *strings.Builder) { runes(r, b, 10, 0x10000, 0x1F9FF) },
	"latin":  func(r *rand.Rand, b *strings.Builder) { runes(r, b, 100, 'a', 'z') },
	"base64": func(r *rand.Rand, b *strings.Builder) { runes(r, b, 100, '+', 'z') },
	"digits": func(r *rand.Rand, b *strings.Builder) { runes(r, b, 50, '0', '9') },
	"same": func(r *rand.Rand, b *strings.Builder) {
		b.WriteString(strings.Repeat(pick(r, []string{"a", "A", "-", "=", "_", ".", "0", "漢", "\u0301", "\uFFFD", "ха", "\x00"}), 1+r.IntN(3000)))
	},
	"spaces": func(r *rand.Rand, b *strings.Builder) {
		b.WriteString(strings.Repeat(pick(r, []string{" ", "\n", "\t", "\r\n", " \n", "\u00a0", "\u3000"}), 1+r.IntN(6000)))
	},
	"noise": func(r *rand.Rand, b *strings.Builder) {
		raw := make([]byte, 200)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		b.WriteString(strings.ToValidUTF8(string(raw), "\uFFFD"))
	},
}

var (
	words = strings.Fields(`the a checkout page charges card twice when customer's session expires and payment
		is retried TX-400 login reproduces on iOS 17.4 only after timeout 3000 ms naïve Straße двойное списание
		支払いが unbelievably internationalization https://example.com/a/b?c=d&e=f user_id (see above) refund`)
	code = []string{"func main() {\n", "\tif err != nil {\n\t\treturn fmt.Errorf(\"x: %w\", err)\n\t}\n", "}\n\n", "        for (int i=0;i<10;i++) sum+=a[i];\n",
		"select * from tickets where id = 42;\n", "// TODO: fix\n", "x := map[string][]byte{}\n"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func runes(r *rand.Rand, b *strings.Builder, n, low, high int) {
	for range n {
		b.WriteRune(rune(low + r.IntN(high-low+1)))
	}
}

// write generates a text with the named kinds in turn, truncated to at most size bytes at a
// character.
func write(seed uint64, size int, names ...string) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < size {
		kinds[names[r.IntN(len(names))]](r, &b)
	}
	text := b.String()
	for size > 0 && size < len(text) && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// exactly returns a text of this many tokens: the start of text, padded with short words.
func exactly(t failer, tokens *tokenizer.Tokenizer, text string, count int) string {
	t.Helper()
	end, lengths := 0, tokens.Lengths(text)
	for _, length := range lengths[:max(0, min(len(lengths), count)-5)] {
		end += length
	}
	for !utf8.RuneStart(text[end]) {
		end--
	}
	text = text[:end]
	for {
		missing := count - len(tokens.Lengths(text))
		switch {
		case missing == 0:
			return text
		case missing < 0:
			t.Fatalf("made a text of %d tokens, wanted %d", count-missing, count)
		}
		text += strings.Repeat(" a", missing)
	}
}
