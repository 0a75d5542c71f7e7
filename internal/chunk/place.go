package chunk

import (
	"strings"
	"unicode"
)

// rank is how good a place is to end or begin a chunk at. Higher is better.
type rank uint8

const (
	inside    rank = iota // of a character: never
	character             // within a user-perceived character, such as before a combining accent
	symbol                // between two of these
	clause                // after punctuation or a symbol, in a run without spaces
	word
	sentence
	line
	paragraph
)

// places holds, for each byte offset of a text, its rank as the end and as the start of a chunk. At
// a run of spaces, a chunk ends before it and the next begins after it.
type places struct {
	ends, starts []rank
}

// findPlaces ranks every offset of text except 0 and len(text) in one pass. Looking around from
// each offset would be quadratic on a long run.
func findPlaces(text string) places {
	p := places{ends: make([]rank, len(text)+1), starts: make([]rank, len(text)+1)}
	var (
		previous  rune   // the character before the current offset
		stop      = word // the kind of end here: sentence after a full stop, else word
		wide      bool   // the full stop needs no space after it
		blank     int    // start of the white space before the current offset
		lineCount int    // line breaks in that white space
	)
	for at, r := range text {
		if at > 0 {
			p.ends[at] = between(previous, r)
			p.starts[at] = p.ends[at]
		}
		space, spaceBefore := unicode.IsSpace(r), at > 0 && unicode.IsSpace(previous)
		switch {
		case space:
			if !spaceBefore {
				blank, lineCount = at, 0
			}
			if r == '\n' || r == '\u2028' || r == '\u0085' || r == '\r' && !strings.HasPrefix(text[at+1:], "\n") {
				lineCount++
			}
			if r == '\u2029' {
				lineCount += 2
			}
		case spaceBefore:
			found := stop
			if lineCount > 0 {
				found = line
			}
			if lineCount > 1 {
				found = paragraph
			}
			p.ends[blank], p.starts[at] = found, found
		case wide && !closes(r) && !terminates(r):
			p.ends[at], p.starts[at] = sentence, sentence
		}
		if !space {
			switch {
			case terminates(r):
				stop, wide = sentence, isWide(r)
			case !closes(r):
				stop, wide = word, false
			}
		}
		previous = r
	}
	return p
}

// between ranks the offset between two adjacent characters if no better rank applies.
func between(before, after rune) rank {
	const joiner = '\u200d' // joins two emoji into one
	switch {
	case before == '\r' && after == '\n',
		before == joiner, after == joiner,
		unicode.Is(unicode.M, after),
		'\U0001F3FB' <= after && after <= '\U0001F3FF': // skin tones
		return character
	case (unicode.IsPunct(before) || unicode.IsSymbol(before)) && (unicode.IsLetter(after) || unicode.IsNumber(after)):
		return clause
	default:
		return symbol
	}
}

// terminates reports whether r may end a sentence, in any script.
func terminates(r rune) bool { return unicode.Is(unicode.STerm, r) }

// isWide reports whether r is a full stop of a script without spaces.
func isWide(r rune) bool { return strings.ContainsRune("。｡．！？", r) }

// closes reports whether r is a quote or bracket that may follow a full stop as part of the
// sentence.
func closes(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
}
