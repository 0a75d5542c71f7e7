// Package chunk cuts a text into the overlapping pieces that are embedded one
// by one, and forms the input that is embedded for each.
//
// It owns the sizes, where a cut may fall, and the form of the input. It must
// not know which tokenizer measures (it takes one as an interface), what
// embeds, or where chunks are stored.
package chunk

import "strings"

// Version identifies what Split, Header and Input make of a text. It is part
// of what identifies an embedding, so it rises whenever any of them, or the
// tokenizer below them, would give another result for some text.
const Version = 1

// The sizes that hold for every chunk of a text of more than Max tokens, in
// tokens of the chunk, and of the overlap, each measured alone.
const (
	Min        = 200
	Max        = 500
	MinOverlap = 50
	MaxOverlap = 100
)

// Tokenizer measures text in the tokens of the embedding model.
type Tokenizer interface {
	// Lengths returns the byte length of each token of text, in order; for
	// valid UTF-8 they sum to len(text). A token may end inside a character.
	Lengths(text string) []int
}

// Chunk is a part of a text: text[Start:End], in bytes.
type Chunk struct {
	Text       string
	Start, End int
	// Overlap is the number of leading bytes of Text that the chunk before
	// ends with; 0 in the first.
	Overlap int
	// Tokens is the number of tokens of Text, measured alone.
	Tokens int
}

// Split cuts text into chunks, in order.
//
// A text of at most Max tokens is one chunk, whatever it holds; the empty text
// has none. A longer one is cut into chunks of Min to Max tokens, the last one
// too, each of which repeats the last MinOverlap to MaxOverlap tokens of the
// one before. Chunks end, and overlaps begin, at the end of a paragraph, else
// of a line, a sentence, a word, whichever is the first of these to lie within
// the sizes; among equals the place that makes the chunks alike in size wins.
// No character is split, and the chunks without their overlaps put together are
// the text, byte for byte.
//
// Invalid UTF-8 is first replaced as strings.ToValidUTF8 does, with U+FFFD; the
// chunks and their offsets are then those of the replaced text.
//
// The tokenizer is given at most 4·len(text) bytes in all. The same text gives
// the same chunks.
func Split(tokenizer Tokenizer, text string) []Chunk {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if text == "" {
		return nil
	}
	s := measure(tokenizer, text)
	if tokens := len(s.tokens); tokens <= Max {
		return []Chunk{{Text: text, End: len(text), Tokens: tokens}}
	}
	s.places = findPlaces(text)

	var chunks []Chunk
	for start, fresh := 0, 0; fresh < len(text); {
		end, tokens := s.end(start)
		chunks = append(chunks, Chunk{Text: text[start:end], Start: start, End: end, Overlap: fresh - start, Tokens: tokens})
		start, fresh = s.overlap(end), end
	}
	return chunks
}
