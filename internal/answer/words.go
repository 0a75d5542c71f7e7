package answer

import (
	"slices"
	"strings"
	"unicode"
)

// words numbers the words of texts that are compared with one another: each text is read once, and comparing two is
// comparing numbers. Every candidate is compared with every other.
type words map[string]int

// wordSet is the numbers of a text's words, in order, each once. It is never nil.
type wordSet []int

const beginningLetters = 6

// of gives the words of a text that can tell it from another: of three letters or more, in lower case and cut to
// their first six, which joins most forms of a word, without the most usual of English.
func (w words) of(text string) wordSet {
	set := wordSet{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters, beginning := 0, word
		for place := range word {
			if letters == beginningLetters {
				beginning = word[:place]
				break
			}
			letters++
		}
		if letters < 3 || usualWords[word] {
			continue
		}
		number, known := w[beginning]
		if !known {
			number = len(w)
			w[beginning] = number
		}
		set = append(set, number)
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// overlap is how many of the words of two texts are in both (Jaccard), 0 to 1.
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

// overlapReaches says whether the overlap is at least so much, and gives up as soon as it cannot be: of texts that differ
// that is after a few words.
func overlapReaches(a, b wordSet, least float64) bool {
	// With d words in one alone, the overlap is (n − d) / (n + d), n being the words of both, counted twice.
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

var usualWords = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("the and for are was were has had have did does not but our out why how what who when where which with this that these those from into its you your they their then than there been being will would can could should about after before because please any all some more most other only also just now one two") {
		words[word] = true
	}
	return words
}()
