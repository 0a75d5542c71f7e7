package chunk

import (
	"unicode"
	"unicode/utf8"
)

// rank says how good a place is to end or begin a chunk at; higher is better.
type rank uint8

const (
	inside    rank = iota // of a character: never
	character             // within what a reader sees as one character, such as before an accent
	symbol                // between two such
	clause                // after a punctuation mark or symbol, inside a run without spaces
	word
	sentence
	line
	paragraph
)

// places holds, for each byte offset of a text, how good it is to end a chunk
// there and to begin one there. Where spaces lie between, a chunk ends before
// them and begins after them.
type places struct {
	ends, starts []rank
}

// findPlaces ranks every offset of text, 0 and len(text) excepted, in one pass:
// looking around from each offset would take the square of a long run.
func findPlaces(text string) places {
	p := places{ends: make([]rank, len(text)+1), starts: make([]rank, len(text)+1)}
	var (
		previous  rune   // the character before at
		stop      = word // what ends here: sentence after its full stop, else word
		wide      bool   // the full stop needs no space after it
		blank     int    // where the run of white space before at began
		lineCount int    // line breaks in that run
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
			if r == '\n' || r == '\u2028' || r == '\u0085' || r == '\r' && !follows(text, at, '\n') {
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

// between ranks the offset between two neighbouring characters when nothing
// better is known of it.
func between(before, after rune) rank {
	const joiner = '\u200d' // makes one emoji of two
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

// isWide reports whether r is a full stop of a script that puts no space after
// it.
func isWide(r rune) bool {
	switch r {
	case '。', '｡', '．', '！', '？':
		return true
	}
	return false
}

// closes reports whether r is a quote or bracket that may follow a full stop
// and belongs to the sentence that it ends.
func closes(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
}

// follows reports whether the character after the one-byte character at offset
// at is r.
func follows(text string, at int, r rune) bool {
	next, _ := utf8.DecodeRuneInString(text[at+1:])
	return next == r
}
