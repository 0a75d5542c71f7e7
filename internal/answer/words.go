package answer

import (
	"slices"
	"strings"
	"unicode"
)

// wordSet holds the 64-bit hashes of a text's words, sorted and unique; never nil. Collisions among
// a few thousand words are negligible, and comparing numbers is fast: every candidate is compared
// with every other.
type wordSet []uint64

const beginningLetters = 6

// wordsOf returns the distinguishing words of a text: three letters or more, lower case, cut to six
// letters, which joins most forms of a word, without the most common words of English.
func wordsOf(text string) wordSet {
	set := make(wordSet, 0, len(text)/6) // about as many as an English text has
	add := func(beginning, whole uint64, letters int) {
		if letters >= 3 && !usualWords[whole] {
			set = append(set, beginning)
		}
	}
	beginning, whole, letters := noLetters, noLetters, 0
	for _, r := range text {
		if !inWord(r) {
			if letters > 0 {
				add(beginning, whole, letters)
				beginning, whole, letters = noLetters, noLetters, 0
			}
			continue
		}
		whole = withLetter(whole, toLower(r))
		if letters++; letters <= beginningLetters {
			beginning = whole
		}
	}
	add(beginning, whole, letters)
	slices.Sort(set)
	return slices.Compact(set)
}

// inWord reports letters and digits. ASCII, the common case, skips the tables of package unicode.
func inWord(r rune) bool {
	if r < unicode.MaxASCII {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func toLower(r rune) rune {
	if r < unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// The hash of a word is FNV-1a (Fowler, Noll and Vo) over its letters.
const noLetters uint64 = 14695981039346656037

func withLetter(hash uint64, r rune) uint64 { return (hash ^ uint64(r)) * 1099511628211 }

// overlap is the share of words that two texts have in common (Jaccard), 0 to 1.
func overlap(a, b wordSet) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// overlapReaches reports whether the overlap is at least this high. For different texts it knows
// after a few words.
func overlapReaches(a, b wordSet, least float64) bool {
	// With d words in only one text and n words in both texts, common ones counted twice, the overlap
	// is (n − d) / (n + d).
	n := len(a) + len(b)
	most := (1 - least) / (1 + least) * float64(n)
	apart := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i, apart = i+1, apart+1
		case a[i] > b[j]:
			j, apart = j+1, apart+1
		default:
			i, j = i+1, j+1
		}
		if float64(apart) > most+1e-9 {
			return false
		}
	}
	return overlap(a, b) >= least
}

// usualWords are the hashes of whole words.
var usualWords = func() map[uint64]bool {
	words := map[uint64]bool{}
	for _, word := range strings.Fields("the and for are was were has had have did does not but our out why how what who when where which with this that these those from into its you your they their then than there been being will would can could should about after before because please any all some more most other only also just now one two") {
		hash := noLetters
		for _, r := range word {
			hash = withLetter(hash, r)
		}
		words[hash] = true
	}
	return words
}()
