package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostWords is the maximum number of keywords of a query. With more, a single match would count too
// little.
const mostWords = 10

// Keywords returns the keywords of a query in lower case: at most 10, in their order, each once. It
// leaves out stop words and single digits and letters, which occur nearly everywhere. A word
// consists of letters and digits of any script, and of the joints inside an identifier (TX-400,
// app.yaml, max_retries, std::vector, C++, C#).
func Keywords(text string) []string {
	keywords := []string{}
	for _, word := range words(strings.ToLower(text)) {
		if word = strip(word); word == "" || isSingle(word) || stopWords[word] || slices.Contains(keywords, word) {
			continue
		}
		if keywords = append(keywords, word); len(keywords) == mostWords {
			break
		}
	}
	return keywords
}

// words splits a text at characters that no word contains.
func words(text string) []string {
	// Apostrophes are written in two ways and occur in no identifier.
	text = strings.ReplaceAll(text, "’", "'")
	return strings.FieldsFunc(text, func(r rune) bool { return !isPart(r) && !strings.ContainsRune(joints, r) })
}

// joints may occur between the parts of a word.
const joints = "-_.:@+#'"

// isPart reports whether a word may contain r. A mark belongs to the letter before it.
func isPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// isSingle reports a single digit, or a single letter with its marks. In scripts not listed here,
// one sign can be a word.
func isSingle(word string) bool {
	sign, size := utf8.DecodeRuneInString(word)
	return strings.TrimLeftFunc(word[size:], unicode.IsMark) == "" && unicode.In(sign, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Digit)
}

// strip removes joints at either end, and the possessive.
func strip(word string) string {
	word = strings.TrimLeft(word, strings.ReplaceAll(joints, "_", ""))
	// C++ and C# end in characters that are joints elsewhere.
	word = strings.TrimRight(word, "-.:@'")
	word = strings.TrimSuffix(word, "'s")
	if !strings.ContainsFunc(word, isPart) {
		return ""
	}
	return word
}

// stopWords are English articles, pronouns, prepositions, conjunctions, auxiliaries and question
// words, which say how something is asked and not what.
var stopWords = set(`
	a an the this that these those some any each every all both either neither no none such same other another
	i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers it its itself
	they them their theirs themselves who whom whose which what
	somebody someone something anybody anyone anything everybody everyone everything nobody none nothing
	about above across after against along among around as at before behind below beneath beside between beyond by down
	during except for from in inside into like near of off on onto out outside over past per since than through throughout
	till to toward towards under until up upon via with within without
	and but or nor so yet if then else because while although though unless whereas whether
	am is are was were be been being do does did doing done have has had having will would shall should can could may might
	must ought
	how when where why not only just also too very more most much many few less least own again once here there
	don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't shouldn't haven't hasn't hadn't
	i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll they're they've it'll
	let please tell show give find explain`)

func set(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
