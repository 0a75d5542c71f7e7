package bench

import (
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
)

const (
	vocabulary = 60_000
	common     = 400 // the most frequent words, which belong to no topic
	topics     = 200
	perTopic   = (vocabulary - common) / topics
)

// lexicon is what texts are made of: words that mean nothing, each with its frequency and all but
// the common ones with a topic. Words are named by their rank, 0 the most frequent.
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

// zipf is the cumulative distribution of n ranks by Zipf's law as Mandelbrot has it: 1 / (rank +
// flattening). Without the flattening the first words would be in every text, as stop words are,
// which no search indexes.
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

// spell writes a rank as three syllables, neighbours unlike each other.
func spell(rank int) string {
	const consonants, vowels = "bdfgjklmnprstvz", "aeiou"
	const syllables = len(consonants) * len(vowels)
	// The factor has no divisor in common with the number of spellings, so no two ranks share one.
	n := (rank*297_641 + 191_919) % (syllables * syllables * syllables)
	var word strings.Builder
	for range 3 {
		word.WriteByte(consonants[n%syllables/len(vowels)])
		word.WriteByte(vowels[n%len(vowels)])
		n /= syllables
	}
	return word.String()
}

// topicOf is the topic of a word, -1 for a common one. Every topic has words of all frequencies.
func topicOf(rank int) int {
	if rank < common {
		return -1
	}
	return (rank - common) % topics
}

// draw takes a word: half of them whatever the topic, the others from the main topic or, now and
// then, a side topic.
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

// text is some drawn words.
func (l *lexicon) text(random *rand.Rand, main, side, length int) string {
	drawn := make([]string, length)
	for i := range drawn {
		drawn[i] = l.words[l.draw(random, main, side)]
	}
	return strings.Join(drawn, " ")
}

// pick takes a place of a cumulative distribution.
func pick(cumulative []float64, random *rand.Rand) int {
	return min(sort.SearchFloat64s(cumulative, random.Float64()), len(cumulative)-1)
}
