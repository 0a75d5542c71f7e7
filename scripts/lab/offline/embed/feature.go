package embed

import (
	"cmp"
	"math"
	"slices"

	"tasklens/scripts/lab/offline/lexicon"
)

// A Feature is something that a text mentions, such as a stem or a concept, by hash.
type Feature struct {
	Hash    uint64
	Weight  int // in multiples of 1/unit
	concept int // the number of a concept of the lexicon, else 0
}

// unit is the weight of a plain word that occurs once. Weights are integers throughout, because
// integer sums are the same in any order and on any machine.
const unit = 64

// Weights of the kinds of features, in units. Stem and concept together make an ordinary word: the
// same word counts fully, a word of the same concept about two thirds, one of the same field a
// little.
const (
	stemWeight     = 0.80
	rareWeight     = 1.20 // an unknown stem, so a name or a technical term
	conceptWeight  = 0.95
	fieldWeight    = 0.30
	nearWeight     = 0.50 // a related concept
	pairWeight     = 0.35
	gramWeight     = 0.60 // all parts of one word together
	codeWeight     = 1.20 // an identifier or code such as tx-400 as a whole
	compoundWeight = 0.40 // a whole hyphenated or dotted compound
	bigramWeight   = 0.80 // two characters of an unspaced script
	characterShare = 0.30 // a single such character
)

// Kinds separate feature types in the hash.
const (
	kindStem byte = iota + 1
	kindConcept
	kindField
	kindPair
	kindGram
	kindCompound
	kindBigram
)

// longestWord is the length in bytes from which a word counts as encoded data: one feature of low
// weight, without parts.
const longestWord = 40

// Features lists a text's features, ordered by hash, deterministically. Weights grow sublinearly
// with repetition (as in BM25), and are higher in a first line that heads a longer text.
func Features(text string) []Feature {
	features, _ := read(text)
	return features
}

// read also reports whether the text has a heading: a first line above others. Questions have none,
// chunks have one.
func read(text string) (features []Feature, headed bool) {
	b := bag{index: map[uint64]int{}}
	words := splitWords(text)
	headed = len(words) > 0 && words[len(words)-1].line > words[0].line
	b.collect(words, headed)
	features = b.features()
	slices.SortFunc(features, func(a, b Feature) int { return cmp.Compare(a.Hash, b.Hash) })
	return features, headed
}

// A bag collects the occurrences of features in text order.
type bag struct {
	index   map[uint64]int
	entries []entry
}

type entry struct {
	hash    uint64
	base    int    // weight of its heaviest occurrence, in units
	mass    int    // sum of weight × place over its occurrences
	stem    string // for a stem, to derive its parts; else empty
	concept int    // of a concept, its number
}

// add records an occurrence at a place of this importance. The returned entry is valid until the
// next call.
func (b *bag) add(hash uint64, weight float64, place int) *entry {
	i, ok := b.index[hash]
	if !ok {
		i = len(b.entries)
		b.index[hash] = i
		b.entries = append(b.entries, entry{hash: hash})
	}
	e, w := &b.entries[i], int(weight*unit)
	e.base = max(e.base, w)
	e.mass += w * place
	return e
}

func (b *bag) collect(words []word, headed bool) {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = w.stem
	}
	var before meaning // the last word with a meaning
	phraseEnd := 0
	for i, w := range words {
		at := place(i, headed && w.line == words[0].line)
		if w.unspaced {
			b.add(hashOf(kindBigram, w.text), characterShare, at)
			if i > 0 && words[i-1].unspaced {
				b.add(hashOf(kindBigram, words[i-1].text+w.text), bigramWeight, at)
			}
			continue
		}
		b.addCompound(words, i, at)
		weight := weigh(w)
		present := meaning{position: i, weight: weight, hash: hashOf(kindStem, w.stem)}
		if weight > 0 {
			b.add(present.hash, weight*stemShare(w.stem), at).stem = w.stem
		}
		if i >= phraseEnd {
			concepts, n := lexicon.Match(stems[i:])
			if n > 1 || weight > 0 {
				phraseEnd = i + n
				certainty := 0.5 + float64(0.5*min(weight, 1)) // converted, to prevent a fused multiply-add
				if n > 1 {
					certainty = 1
					present.weight = 1
				}
				b.addConcepts(concepts, certainty, at)
				if len(concepts) > 0 {
					present.hash = hashOf(kindConcept, concepts[0].Name)
				}
			}
		}
		if present.weight > 0 {
			b.addPair(before, present, at)
			before = present
		}
	}
}

// A meaning is how a word counts in a pair: its concept, or else its stem.
type meaning struct {
	hash     uint64
	weight   float64
	position int
}

// pairReach is the maximum distance of the words of a pair: stop words and one other word may be
// between them.
const pairReach = 4

// addPair records two neighbouring words, in either order ("charged twice", "double charge").
func (b *bag) addPair(one, other meaning, at int) {
	if one.weight == 0 || one.hash == other.hash || other.position-one.position > pairReach {
		return
	}
	low, high := min(one.hash, other.hash), max(one.hash, other.hash)
	b.add(mix(low^mix(high+uint64(kindPair))), pairWeight*(one.weight+other.weight)/2, at)
}

// shares of a word's weight for each of its concepts: 1/√n for n concepts.
var shares = [...]float64{0, 1, 0.7071, 0.5774, 0.5}

func (b *bag) addConcepts(concepts []*lexicon.Concept, certainty float64, at int) {
	share := certainty * shares[min(len(concepts), len(shares)-1)]
	for _, c := range concepts {
		b.add(hashOf(kindConcept, c.Name), share*c.Weight*conceptWeight, at).concept = c.Number
		b.add(hashOf(kindField, c.Field), share*c.Weight*fieldWeight, at)
		for _, near := range c.Near {
			b.add(hashOf(kindConcept, near.Name), share*near.Weight*nearWeight, at).concept = near.Number
		}
	}
}

// longestCompound limits the words of a compound. Longer paths and dotted names only contribute
// their words.
const longestCompound = 4

// addCompound records the whole compound that ends at word i: tx-400, user_id, drop-down.
func (b *bag) addCompound(words []word, i, at int) {
	if !words[i].joined || i+1 < len(words) && words[i+1].joined {
		return
	}
	first, code := i, false
	for ; first > 0 && words[first].joined; first-- {
		code = code || words[first].marked || hasDigit(words[first].text)
	}
	if i-first >= longestCompound {
		return
	}
	var whole string
	for _, w := range words[first : i+1] {
		whole += w.text
	}
	weight := compoundWeight
	if code || hasDigit(words[first].text) {
		weight = codeWeight
	}
	b.add(hashOf(kindCompound, whole), weight, at)
}

// features weighs the entries by their counts and adds the parts of words.
func (b *bag) features() []Feature {
	list := make([]Feature, 0, 6*len(b.entries))
	for _, e := range b.entries {
		if e.base == 0 {
			continue
		}
		weight := saturate(e.base, e.mass/e.base)
		list = append(list, Feature{e.hash, weight, e.concept})
		if e.stem != "" {
			list = appendGrams(list, e.stem, weight)
		}
	}
	return list
}

const gramLength = 4

// appendGrams adds the four-letter parts of a stem, with marked ends, so that misspelt and compound
// words are similar. Those of long and short words have the same total weight.
func appendGrams(list []Feature, stem string, weight int) []Feature {
	marked := []rune("^" + stem + "$")
	n := len(marked) - gramLength + 1
	if len(stem) < gramLength || len(stem) > longestWord || n < 1 {
		return list
	}
	const scale = 1 << 20 // in whole numbers
	each := weight * int(gramWeight*scale/math.Floor(math.Sqrt(float64(n*scale)))) / 1024
	if each == 0 {
		return list
	}
	for i := range n {
		list = append(list, Feature{Hash: hashOf(kindGram, string(marked[i:i+gramLength])), Weight: each})
	}
	return list
}

// hashOf returns the mixed 64-bit FNV-1a hash of a kind and a text.
func hashOf(kind byte, text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (offset ^ uint64(kind)) * prime
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return mix(h)
}
