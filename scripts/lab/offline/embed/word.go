package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tasklens/scripts/lab/offline/lexicon"
)

// A word is a unit of a text, in lower case.
type word struct {
	text     string
	stem     string
	line     int  // line number in the text, from 0
	unspaced bool // a character of a script without spaces
	joined   bool // follows its predecessor without a space: one identifier, code or compound
	marked   bool // part of an identifier or code: joined by an underscore or a change of case
}

// unspacedScripts have no spaces between words, so characters and pairs of them count as words.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// splitWords splits a text into words: runs of letters, marks and digits, split again at camelCase;
// characters of unspaced scripts one by one. Apostrophes are dropped ("don't" is "dont"), and so is
// a possessive 's.
func splitWords(text string) []word {
	if !isASCII(text) {
		text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	}
	s := splitter{words: make([]word, 0, len(text)/6+1)}
	start := -1 // start of the current run of word characters
	for i, r := range text {
		switch {
		case isWordRune(r):
			if start < 0 {
				start = i
			}
			continue
		case r >= utf8.RuneSelf && unicode.In(r, unspacedScripts...):
			s.run(text, start, i)
			s.words = append(s.words, word{text: string(r), stem: string(r), line: s.line, unspaced: true})
			s.gap = ' '
		case (r == '\'' || r == '’') && start >= 0 && followedByLetter(text[i+utf8.RuneLen(r):]):
			continue // inside a word; run removes it
		default:
			s.run(text, start, i)
			s.separate(r)
		}
		start = -1
	}
	s.run(text, start, len(text))
	return s.words
}

type splitter struct {
	words []word
	line  int
	gap   rune // between the last run and the next: a single connector, or a space for anything else
}

func (s *splitter) separate(r rune) {
	if r == '\n' {
		s.line++
	}
	if s.gap == 0 && strings.ContainsRune("_-./:#@", r) {
		s.gap = r
	} else {
		s.gap = ' '
	}
}

// run adds the words of text[start:end], a run of word characters.
func (s *splitter) run(text string, start, end int) {
	if start < 0 {
		return
	}
	run := text[start:end]
	if strings.ContainsAny(run, "'’") {
		run = strings.TrimSuffix(strings.TrimSuffix(run, "'s"), "’s")
		run = strings.NewReplacer("'", "", "’", "").Replace(run)
	}
	joined, marked := s.gap != ' ' && len(s.words) > 0, s.gap == '_'
	for i, part := range splitCase(run) {
		lower := strings.ToLower(part)
		s.words = append(s.words, word{
			text: lower, stem: lexicon.Stem(lower), line: s.line,
			joined: joined || i > 0, marked: marked || i > 0,
		})
	}
	s.gap = 0
}

// splitCase splits getHTTPStatus into get, HTTP, Status, but keeps names with a one-letter part
// (iPhone, OAuth) or known to the lexicon (GitHub).
func splitCase(run string) []string {
	if !changesCase(run) || len(run) > longestWord {
		return []string{run}
	}
	if _, n := lexicon.Match([]string{lexicon.Stem(strings.ToLower(run))}); n > 0 {
		return []string{run}
	}
	var parts []string
	start := 0
	for i := 1; i < len(run); i++ {
		lowerUpper := !isUpper(run[i-1]) && isUpper(run[i])
		lastUpper := isUpper(run[i-1]) && isUpper(run[i]) && i+1 < len(run) && isLower(run[i+1])
		if lowerUpper || lastUpper {
			if i-start < 2 {
				return []string{run}
			}
			parts = append(parts, run[start:i])
			start = i
		}
	}
	if len(run)-start < 2 {
		return []string{run}
	}
	return append(parts, run[start:])
}

func changesCase(run string) bool {
	for i := 1; i < len(run); i++ {
		if isUpper(run[i]) && isLower(run[i-1]) || isLower(run[i]) && isUpper(run[i-1]) && i > 1 {
			return true
		}
	}
	return false
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
func isLower(b byte) bool { return b >= 'a' && b <= 'z' }

func isWordRune(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)) && !unicode.In(r, unspacedScripts...)
}

func followedByLetter(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
