package words

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A Feature is something that a text mentions: a word or a part of one, by hash.
type Feature struct {
	Hash   uint64
	Weight int // unit for a word that occurs once
}

// unit makes weights integers: their sums are the same in any order and on any machine.
const unit = 64

const (
	once            = 16 // the times of an ordinary occurrence
	inTitle         = 4 * once
	beginning       = 40   // words, after which a text says its subject less and less
	compoundShare   = 0.5  // of a word's weight
	longestCompound = 4    // words; longer paths and names count as their words only
	longestWord     = 40   // characters, after which encoded data has no more parts
	partShare       = 0.25 // of a word's weight, for each four letters
	pairShare       = 0.8  // of two characters of a script without spaces
)

var (
	camelCase  = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	apostrophe = regexp.MustCompile(`['’](?:s\b)?`)
	unspaced   = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]+`)
	compound   = regexp.MustCompile(`[\pL\pM\pN]+(?:[_./:#@-][\pL\pM\pN]+)*`)
	single     = regexp.MustCompile(`[\pL\pM\pN]+`)
)

// Features lists a text's features, ordered by hash, each once. Weights grow sublinearly with
// repetition (as in BM25), and are higher in a first line that heads a longer text.
func Features(text string) []Feature {
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	text = strings.ToLower(camelCase.ReplaceAllString(text, "${1}_$2"))
	text = unspaced.ReplaceAllString(apostrophe.ReplaceAllString(text, ""), " $0 ")
	found := bag{}
	if title, rest, isHeaded := strings.Cut(strings.TrimSpace(text), "\n"); isHeaded {
		found.read(title, inTitle)
		found.read(rest, once)
	} else {
		found.read(title, once)
	}
	var features []Feature
	for hash, said := range found {
		features = append(features, Feature{hash, said.weight * 2 * said.times / (said.times + once)})
	}
	slices.SortFunc(features, func(a, b Feature) int { return cmp.Compare(a.Hash, b.Hash) })
	return features
}

// A bag holds what was said, by hash: its weight, and how often.
type bag map[uint64]struct{ weight, times int }

func (b bag) read(text string, most int) {
	for i, whole := range compound.FindAllString(text, -1) {
		times := max(1, most*beginning/max(beginning, i))
		words := single.FindAllString(whole, -1)
		if 1 < len(words) && len(words) <= longestCompound { // sign-in is signin, and user_id userId
			b.add(Stem(strings.Join(words, "")), compoundShare, times)
		}
		for _, word := range words {
			b.word(word, times)
		}
	}
}

// shortShare is what a word of so many bytes says: little, if it is a variable or a digit.
var shortShare = [...]float64{0, 0.3, 0.8, 0.8, 1}

// word adds a word and its parts of four letters, with marked ends, so that misspelt and compound
// words are similar. In a script without spaces, a word is a whole sentence, and a part a pair.
func (b bag) word(word string, times int) {
	stem, length, share := Stem(word), 4, partShare
	weight, letters := Weight(stem)*shortShare[min(len(word), 4)], []rune("^"+stem+"$")
	if unspaced.MatchString(word) {
		length, share = 2, pairShare
	} else {
		letters = letters[:min(len(letters), longestWord)]
	}
	b.add(stem, weight, times)
	for i := range len(letters) - length + 1 {
		b.add("~"+string(letters[i:i+length]), weight*share, times)
	}
}

func (b bag) add(text string, weight float64, times int) {
	if whole := int(weight * unit); whole > 0 {
		said := b[hashOf(text)]
		b[hashOf(text)] = struct{ weight, times int }{max(said.weight, whole), said.times + times}
	}
}

func hashOf(text string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text)) // cannot fail
	return hash.Sum64()
}
