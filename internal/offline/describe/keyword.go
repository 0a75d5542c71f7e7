package describe

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tasklens/internal/offline/lexicon"
)

const (
	maxKeywords = 10
	// titleCount is how many times in the text a word of the title counts.
	titleCount = 4
	// telling is the least weight (see package lexicon) of a word that can be a keyword.
	telling = 0.5
	// pairCount lifts a pair over its words where they mostly stand together.
	pairCount = 1.5
)

var word = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[-_.'’][\p{L}\p{N}]+)*`)

// untelling are words that the lexicon weighs, since they tell tickets apart, and that say nothing of a document.
var untelling = wordSet(`one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred
	thousand ask asked author owner reviewer reviewed read write wrote say said says tell told decided nobody somebody date title
	monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
	november december der die das und oder nicht ist sind mit von vom zum zur für auf den dem des ein eine wird werden les des une est pour dans`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// term is a word, or two that stand together, which may be a keyword.
type term struct {
	stems []string
	shown string // as it stood first, in lower case
	score float64
	times int
	place int
}

// keywords are the words, and the pairs of neighbours that occur together more than once, that are most frequent for how
// common they are; of a pair and its words the pair alone.
func keywords(title, content string) []string {
	terms := map[string]*term{}
	countTerms(terms, title, titleCount)
	for line := range strings.Lines(content) {
		countTerms(terms, line, 1)
	}
	ranked := make([]*term, 0, len(terms))
	for _, t := range terms {
		if len(t.stems) == 1 || t.times > 1 {
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

// countTerms adds the words and pairs of a line.
func countTerms(terms map[string]*term, line string, weight float64) {
	known := lexicon.Default()
	before, end := "", -1 // the telling word before, where it ended
	for _, span := range word.FindAllStringIndex(line, -1) {
		shown := withoutS(strings.ToLower(line[span[0]:span[1]]))
		stem := lexicon.Stem(shown)
		says := known.Weight(stem)
		if says < telling || untelling[shown] || names()[shown] == "person" || utf8.RuneCountInString(stem) < 3 || !strings.ContainsFunc(stem, unicode.IsLetter) {
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

// withoutS takes the mark of an English possessor off.
func withoutS(word string) string { return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s") }
