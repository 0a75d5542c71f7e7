package describe

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/scripts/lab/offline/lexicon"
)

const (
	maxKeywords = 10
	// titleCount is the weight of a word in the title, in occurrences in the text.
	titleCount = 4
	// telling is the minimum weight (see package lexicon) of a title word to be a keyword, and
	// tellingText that of other words: every other text has a page, a file and a name.
	telling     = 0.5
	tellingText = 0.8
	// pairCount ranks a pair above its words if they mostly occur together.
	pairCount = 1.5
)

var word = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-_.'’][\p{L}\p{N}]+)*`)

// untelling are words that the lexicon weighs, because they distinguish tickets, but that say
// nothing about a document: numbers, measures and times, verbs of saying, adverbs, and words of
// document headers.
var untelling = wordSet(`one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred
	thousand half third number numbers many few several newest oldest better best worse worst less least
	second seconds minute minutes hour hours week weeks weekly month months monthly quarter year years night nights morning
	evening daily ago late later early earlier long longer short shorter far back away together apart beside besides around
	along against down became become becomes mean means meant matter matters ask asked author owner reviewer reviewed read write wrote say said says tell told decided nobody somebody date title
	monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
	november december der die das und oder nicht ist sind mit von vom zum zur für auf den dem des ein eine wird werden les des une est pour dans`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// term is a word, or two neighbouring words, that may be a keyword.
type term struct {
	stems   []string
	shown   string // first occurrence, in lower case
	score   float64
	times   int
	inTitle bool
	place   int
}

// keywords returns the words of the title, and the words and pairs that occur more than once, with
// the highest frequency relative to how common they are. A pair replaces its words. A single
// mention in the text does not count.
func keywords(title, content string) []string {
	terms := map[string]*term{}
	countTerms(terms, title, titleCount, telling)
	for _, t := range terms {
		t.inTitle = true
	}
	for line := range strings.Lines(content) {
		countTerms(terms, line, 1, tellingText)
	}
	ranked := make([]*term, 0, len(terms))
	for _, t := range terms {
		if t.times > 1 || t.inTitle && len(t.stems) == 1 {
			ranked = append(ranked, t)
		}
	}
	slices.SortFunc(ranked, func(a, b *term) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(b.stems), len(a.stems)), cmp.Compare(a.place, b.place))
	})
	chosen, used := []string{}, map[string]bool{}
	for _, t := range ranked {
		if len(chosen) == maxKeywords {
			break
		}
		if !slices.ContainsFunc(t.stems, func(stem string) bool { return used[stem] }) {
			chosen = append(chosen, t.shown)
			for _, stem := range t.stems {
				used[stem] = true
			}
		}
	}
	return chosen
}

// countTerms adds the words and pairs of a line whose words are in the title or weigh at least this
// much.
func countTerms(terms map[string]*term, line string, weight, least float64) {
	known := lexicon.Default()
	before, end := "", -1 // the previous relevant word, and where it ended
	for _, span := range word.FindAllStringIndex(line, -1) {
		shown := withoutS(strings.ToLower(line[span[0]:span[1]]))
		stem := lexicon.Stem(shown)
		says := known.Weight(stem)
		if says < least && terms[stem] == nil || untelling[shown] || names()[shown] == "person" || utf8.RuneCountInString(stem) < 3 || !strings.ContainsFunc(stem, unicode.IsLetter) {
			before = ""
			continue
		}
		addTerm(terms, []string{stem}, shown, weight*says)
		if first := before; first != "" && line[end:span[0]] == " " {
			stems := []string{lexicon.Stem(first), stem}
			addTerm(terms, stems, first+" "+shown, weight*says*pairCount)
		}
		before, end = shown, span[1]
	}
}

func addTerm(terms map[string]*term, stems []string, shown string, score float64) {
	key := strings.Join(stems, " ")
	t := terms[key]
	if t == nil {
		t = &term{stems: stems, shown: shown, place: len(terms)}
		terms[key] = t
	}
	t.score += score
	t.times++
}

// withoutS removes the English possessive.
func withoutS(word string) string { return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s") }
