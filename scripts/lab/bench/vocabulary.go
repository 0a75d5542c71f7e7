package bench

import (
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
)

const (
	vocabulary = 60_000
	common     = 400 // the most frequent words, which have no topic
	topics     = 200
	perTopic   = (vocabulary - common) / topics
)

// lexicon is the vocabulary: meaningless words, each with a frequency and, except the common ones,
// a topic. A word's number is its rank; 0 is the most frequent.
type lexicon struct {
	words   []string
	ranks   map[string]int
	any     []float64 // cumulative frequency of all words
	onTopic []float64 // cumulative frequency of the words of one topic
}

var words = sync.OnceValue(func() *lexicon {
	l := &lexicon{ranks: make(map[string]int, vocabulary), any: zipf(vocabulary, 10), onTopic: zipf(perTopic, 2)}
	for rank := range vocabulary {
		word := spell(rank)
		l.words = append(l.words, word)
		l.ranks[word] = rank
	}
	return l
})

// zipf returns the cumulative distribution of n ranks by the Zipf–Mandelbrot law, 1 / (rank +
// flattening). Without flattening the first words would occur in every text, like stop words, which
// no search indexes.
func zipf(n int, flattening float64) []float64 {
	cumulative, sum := make([]float64, n), 0.0
	for i := range n {
		sum += 1 / (float64(i+1) + flattening)
		cumulative[i] = sum
	}
	for i := range cumulative {
		cumulative[i] /= sum
	}
	return cumulative
}

// spell writes a rank as three syllables. Neighbouring ranks look different.
func spell(rank int) string {
	const consonants, vowels = "bdfgjklmnprstvz", "aeiou"
	const syllables = len(consonants) * len(vowels)
	// The factor is coprime to the number of spellings, so the spellings are unique.
	n := (rank*297_641 + 191_919) % (syllables * syllables * syllables)
	var word strings.Builder
	for range 3 {
		word.WriteByte(consonants[n%syllables/len(vowels)])
		word.WriteByte(vowels[n%len(vowels)])
		n /= syllables
	}
	return word.String()
}

// topicOf returns the topic of a word, -1 for a common one. Every topic has words of all
// frequencies.
func topicOf(rank int) int {
	if rank < common {
		return -1
	}
	return (rank - common) % topics
}

// draw draws a word: half of them from all topics, the others from the main topic or sometimes a
// side topic.
func (l *lexicon) draw(random *rand.Rand, main, side int) int {
	switch kind := random.Float64(); {
	case kind < 0.5:
		return pick(l.any, random)
	case kind < 0.85:
		return common + main + topics*pick(l.onTopic, random)
	default:
		return common + side + topics*pick(l.onTopic, random)
	}
}

// text draws a text.
func (l *lexicon) text(random *rand.Rand, main, side, length int) string {
	drawn := make([]string, length)
	for i := range drawn {
		drawn[i] = l.words[l.draw(random, main, side)]
	}
	return strings.Join(drawn, " ")
}

// pick samples an index from a cumulative distribution.
func pick(cumulative []float64, random *rand.Rand) int {
	return min(sort.SearchFloat64s(cumulative, random.Float64()), len(cumulative)-1)
}
