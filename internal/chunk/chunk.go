// Package chunk splits a text into overlapping chunks to be embedded one by one, and builds the
// embedding input of each.
//
// It owns the sizes, where a cut may be, and the form of the input. It does not know which
// tokenizer counts (it takes an interface), what embeds, or where chunks are stored.
package chunk

import "strings"

// Version identifies the output of Split, Header and Input. It is part of an embedding's identity.
// Raise it whenever one of them, or the tokenizer, would return something else for some text.
const Version = 1

// Sizes in tokens, for every chunk of a text of more than Max tokens. Chunk and overlap are each
// counted on their own.
const (
	Min        = 200
	Max        = 500
	MinOverlap = 50
	MaxOverlap = 100
)

// Tokenizer measures text in the tokens of the embedding model.
type Tokenizer interface {
	// Lengths returns the byte length of each token of text, in order. For valid UTF-8 they sum to
	// len(text). A token may end inside a character.
	Lengths(text string) []int
}

// Chunk is a part of a text: text[Start:End], in bytes.
type Chunk struct {
	Text       string
	Start, End int
	// Overlap is the number of leading bytes of Text that are also the end of the previous chunk; 0
	// in the first.
	Overlap int
	// Tokens is the number of tokens of Text on its own.
	Tokens int
}

// Split cuts text into chunks, in order.
//
// A text of at most Max tokens is one chunk, and the empty text has none. A longer text is split
// into chunks of Min to Max tokens, including the last one, each of which repeats the last
// MinOverlap to MaxOverlap tokens of the previous one. Chunks end, and overlaps begin, at the end
// of a paragraph, else of a line, a sentence or a word: at the best of these within the size
// limits. Among equals, the place that makes the chunks more equal in size is chosen. No character
// is split. The chunks without their overlaps concatenate to the text, byte for byte.
//
// Invalid UTF-8 is first replaced with U+FFFD, as strings.ToValidUTF8 does. Chunks and offsets
// refer to the result.
//
// The tokenizer gets at most 4·len(text) bytes in total. Split is deterministic.
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
