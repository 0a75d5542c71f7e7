package offline

import (
	"unicode"
	"unicode/utf8"
)

// Limits of OpenAI's API.
const (
	maxInputs        = 2048
	maxInputTokens   = 8191
	maxRequestTokens = 300_000
	maxChatTokens    = 128_000
)

// countTokens estimates the number of cl100k_base tokens without the vocabulary. For prose and code
// in any language it is above the true count, so that what passes here passes OpenAI's limits;
// mostly random letters or long German words may be underestimated. A word is one token plus one
// per four letters after the fourth; digits count by threes, punctuation by twos, spaces with the
// next word, line breaks once per run; other alphabets one per letter, East Asian characters two.
func countTokens(text string) int {
	tokens, run, last := 0, 0, other
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		kind := kindOf(r)
		switch {
		case kind == last:
			run++
		case kind == digit && last == blank: // a space does not merge with a number
			tokens++
			fallthrough
		default:
			last, run = kind, 0
		}
		switch kind {
		case wide:
			tokens += 2
		case other:
			tokens++
		case blank:
			if run > 0 && run%16 == 1 { // the first merges with the word
				tokens++
			}
		default:
			if run%pace[kind] == 0 {
				tokens++
			}
		}
	}
	return tokens
}

type runeKind int

const (
	letter runeKind = iota
	digit
	punctuation
	newline
	blank
	other
	wide
)

// pace is the number of characters per token, by kind.
var pace = [...]int{letter: 4, digit: 3, punctuation: 2, newline: 16}

func kindOf(r rune) runeKind {
	switch {
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r == ' ' || r == '\t':
		return blank
	case r == '\n' || r == '\r':
		return newline
	case r < utf8.RuneSelf:
		return punctuation
	case r >= 0x2E80 || !unicode.IsLetter(r):
		return wide
	}
	return other
}
