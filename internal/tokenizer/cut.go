package tokenizer

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// maxPiece is the number of bytes that the library encodes in one call. It bounds the library's
// quadratic time on a run without spaces.
const maxPiece = 512

// pieces yields text in order, cut into pieces of at most maxPiece bytes.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := cut(text)
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// cut returns the byte offset at which the first piece of text ends: the last
// clean offset within maxPiece bytes, else the last rune boundary there.
func cut(text string) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	limit := maxPiece
	for limit > maxPiece-utf8.UTFMax && !utf8.RuneStart(text[limit]) {
		limit--
	}
	for at := limit; at > 0; {
		before, size := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		if clean(before, after) {
			return at
		}
		at -= size
	}
	return limit
}

// clean reports whether a cut between before and after leaves the tokens of the text unchanged,
// whatever else the text contains.
//
// cl100k_base first splits a text with the expression
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// and merges bytes only inside a match. A cut is therefore clean where every match must end and no
// look-ahead crosses it: after a match that contains a letter or a digit; between a visible
// character and a space or tab; and between a line break and a visible character.
func clean(before, after rune) bool {
	switch {
	case unicode.IsLetter(before):
		return !unicode.IsLetter(after)
	case unicode.IsNumber(before):
		return !unicode.IsNumber(after)
	case before == '\n' || before == '\r':
		return !unicode.IsSpace(after)
	default:
		return !unicode.IsSpace(before) && (after == ' ' || after == '\t')
	}
}
