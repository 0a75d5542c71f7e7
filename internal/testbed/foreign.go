package testbed

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
)

// Scale is the range of a model's cosines.
type Scale struct {
	Level   float64 // between two unrelated texts
	Noise   float64 // share of a vector's squared length that no other text has
	Meant   float64 // weight of the meaning relative to the words
	Numbers int     // distinct numbers that the vector repeats; with fewer, the cosines of unrelated texts spread more
	Name    string  // of the model
}

// Scales of two of OpenAI's models, taken from real vectors; see docs/models.md.
var (
	ScaleOf3Small = Scale{Name: "text-embedding-3-small", Level: 0.14, Noise: 0.08, Meant: 0.6, Numbers: 192}
	ScaleOfAda    = Scale{Name: "text-embedding-ada-002", Level: 0.65, Noise: 0.01, Meant: 0.6, Numbers: 384}
)

// Embedder returns a fake of a model with that scale. Unlike the offline model it knows no
// language, only prefixes of words, each a random direction. A real model recognises that different
// words have the same meaning; the fake gets the meaning as an argument. Texts with the same
// meaning are close, unless it is "".
func (s Scale) Embedder(meaning func(text string) string) func(text string, d int) []float32 {
	return func(text string, d int) []float32 {
		said := make(direction, s.Numbers)
		for word, weight := range words(text) {
			said.add("word "+word, weight)
		}
		said.unit()
		if known := meaning(text); known != "" {
			said.add("meaning "+known, s.Meant)
			said.unit()
		}
		whole, own := make(direction, s.Numbers), make(direction, s.Numbers)
		whole.add("level", math.Sqrt(s.Level))
		own.add("text "+text, math.Sqrt(s.Noise))
		for i := range whole {
			whole[i] += math.Sqrt(1-s.Level-s.Noise)*said[i] + own[i]
		}
		whole.unit()
		vector := make([]float32, d)
		for i := range vector {
			vector[i] = float32(whole[i%len(whole)] / math.Sqrt(float64(d)/float64(len(whole))))
		}
		return vector
	}
}

// words returns the weights of the word prefixes of a text. The first lines, which name a ticket,
// weigh more.
func words(text string) map[string]float64 {
	found := map[string]float64{}
	for i, line := range strings.Split(text, "\n") {
		place := 1.0
		if i < 3 {
			place = 2
		}
		for _, word := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			letters := []rune(word)
			if len(letters) < 3 || usual[word] {
				continue
			}
			beginning := string(letters[:min(5, len(letters))])
			found[beginning] = max(found[beginning], place*math.Sqrt(float64(len(letters))))
		}
	}
	return found
}

var usual = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("the and for are was were has had have did does not but our out why how what who when where which with this that these those from into its you your they their then than there been being will would can could should about after before because all any some more most other only also just now one two") {
		words[word] = true
	}
	return words
}()

type direction []float64

// add adds a pseudo-random direction of this length, seeded by name.
func (d direction) add(name string, length float64) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	random := rand.New(rand.NewPCG(hash.Sum64(), 1))
	for i := range d {
		d[i] += length * random.NormFloat64() / math.Sqrt(float64(len(d)))
	}
}

func (d direction) unit() {
	square := 0.0
	for _, x := range d {
		square += x * x
	}
	if square > 0 {
		for i := range d {
			d[i] /= math.Sqrt(square)
		}
	}
}
