package answer

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordSet holds the hashes of a text's words, sorted and unique; never nil. Comparing numbers is
// fast: every candidate is compared with every other.
type wordSet []uint64

var seed = maphash.MakeSeed()

const beginningLetters = 6

// wordsOf returns the distinguishing words of a text: three letters or more, lower case, cut to six
// letters, which joins most forms of a word, without the most common words of English.
func wordsOf(text string) wordSet {
	set := make(wordSet, 0, len(text)/6) // about as many as an English text has
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if usualWords[word] || utf8.RuneCountInString(word) < 3 {
			continue
		}
		letters := 0
		for end := range word {
			if letters++; letters > beginningLetters {
				word = word[:end]
				break
			}
		}
		set = append(set, maphash.String(seed, word))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// wordSet returns the words of a candidate's text, computed once.
func (c *candidate) wordSet() wordSet {
	if c.words == nil {
		c.words = wordsOf(c.Text)
	}
	return c.words
}

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
	return float64(common) / float64(max(1, len(a)+len(b)-common))
}

var usualWords = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("the and for are was were has had have did does not but our out why how what who when where which with this that these those from into its you your they their then than there been being will would can could should about after before because please any all some more most other only also just now one two") {
		words[word] = true
	}
	return words
}()
