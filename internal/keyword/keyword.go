// Package keyword picks out of a question the words that say what it is about. It knows nothing of what they are compared
// with.
package keyword

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// most is how many keywords a query has: more would make each count for less than a fluke.
const most = 10

// Query gives the keywords of a query in lower case: at most 10, in their order, each once, without words that every
// question has, and without single digits, and letters of alphabets, which nearly everything contains. Letters and digits of
// any script make a word. What joins them inside an identifier (TX-400, app.yaml,
// max_retries, std::vector, C++, C#) belongs to it.
func Query(text string) []string {
	keywords := []string{}
	for _, word := range words(strings.ToLower(text)) {
		if word = strip(word); word == "" || isSingle(word) || stopWords[word] || slices.Contains(keywords, word) {
			continue
		}
		if keywords = append(keywords, word); len(keywords) == most {
			break
		}
	}
	return keywords
}

// words cuts a text where something stands that is in no word.
func words(text string) []string {
	// Apostrophes are written in two ways, and stand in no identifier.
	text = strings.ReplaceAll(text, "’", "'")
	return strings.FieldsFunc(text, func(r rune) bool { return !isPart(r) && !strings.ContainsRune(joints, r) })
}

// joints may stand between the parts of a word.
const joints = "-_.:@+#'"

// isPart tells what words are made of. A mark is part of the letter before it.
func isPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// isSingle tells a digit, or a letter with its marks, that stands alone. In other scripts than these one sign can be a word.
func isSingle(word string) bool {
	sign, size := utf8.DecodeRuneInString(word)
	return strings.TrimLeftFunc(word[size:], unicode.IsMark) == "" && unicode.In(sign, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Digit)
}

// strip takes off what joins nothing, and the possessive.
func strip(word string) string {
	word = strings.TrimLeft(word, strings.ReplaceAll(joints, "_", ""))
	// C++ and C# end in what elsewhere joins.
	word = strings.TrimRight(word, "-.:@'")
	word = strings.TrimSuffix(word, "'s")
	if !strings.ContainsFunc(word, isPart) {
		return ""
	}
	return word
}
