// Package embed owns the offline embedding: it turns a text into a unit vector whose cosines say
// how far two texts are about the same thing. It must not know HTTP, and nothing of a text's
// origin.
//
// A text's features (stems, concepts, pairs, parts of words) each have a direction of their own; a
// text is their weighted sum. All texts share one more component, whose share is the scale: it
// moves all cosines alike and leaves their order as it is. Texts without features lie apart: near
// to one another alone.
package embed

import "math"

// Dimensions is the length of a vector. Its first d numbers, normalised again, are a coarser vector
// of the same text.
const Dimensions = 1536

// A vector is blocks, so that it may be cut short: in each some places are for words (all features
// but concepts, and the shared component) and some for concepts. The lexicon's concepts are a large
// part of what a text says, known beforehand, and fewer than conceptNumbers, so that none is like
// another by chance. Each half of a vector has them all.
const (
	blocks         = 16
	wordPlaces     = 64
	conceptPlaces  = 32
	wordNumbers    = blocks * wordPlaces
	conceptNumbers = blocks / 2 * conceptPlaces
)

// Scale is the share of the common component in a vector's square: two texts that have nothing else
// in common have this cosine. A cosine c on one scale is to + (1 - to) * (c - from) / (1 - from) on
// another.
type Scale float64

// Of3Small has the cosines where text-embedding-3-small has them. Unrelated questions and texts of
// the judged set and the sample have a median of 0.14, as there; questions and the texts that
// answer them of 0.48 together, 0.37 in the judged set, whose words differ more, and 0.63 in the
// sample (there 0.50). It was fixed by these medians alone.
const Of3Small Scale = 0.12

// High is the scale of models such as text-embedding-ada-002, on which unrelated texts are at 0.64:
// 1 of 100 random pairs of a short query and a chunk is above 0.70.
const High Scale = 0.63

// pivot is the length, of unit, at which a text with a heading is turned by 45°; see turn.
const pivot = 4

// Vector returns the first d numbers of the text's unit vector, normalised again; d is clamped to
// 1..Dimensions. Every text has one, and it is the same in every process and on every machine: sums
// are integers, and the conversions around float products keep compilers from fusing them into
// operations that round differently.
func (scale Scale) Vector(text string, d int) []float32 {
	d = max(1, min(d, Dimensions))
	features, headed := read(text)
	var s sum
	for _, f := range features {
		s.add(f)
	}
	numbers := s.numbers(scale, headed)
	square := 0.0
	for _, n := range numbers[:d] {
		square += float64(n * n)
	}
	norm := math.Sqrt(square) // above 0: the first place would have to cancel the common component
	vector := make([]float32, d)
	for i := range vector {
		vector[i] = float32(numbers[i] / norm)
	}
	return vector
}

// numbers lays the sum out as a unit vector.
func (s *sum) numbers(scale Scale, headed bool) *[Dimensions]float64 {
	words, concepts := s.words(), s.concepts()
	centre(words)
	wordSquare, conceptSquare := 0.0, 0.0
	for _, n := range words {
		wordSquare += float64(float64(n) * float64(n))
	}
	// A feature's weight counts the same on fewer places, and as centre has left it.
	level := math.Sqrt(float64(wordNumbers)/(2*conceptNumbers)) * half
	for _, n := range concepts {
		n := float64(float64(n) * level)
		conceptSquare += float64(2 * n * n)
	}
	if wordSquare == 0 {
		return nothing()
	}
	shared := float64(scale)
	common := math.Sqrt(shared / wordNumbers)
	cosine, sine := turn(s.square, headed)
	straight := cosine * math.Sqrt((1-shared)/(wordSquare+conceptSquare))
	across := sine * math.Sqrt((1-shared)/wordSquare)
	var numbers [Dimensions]float64
	for b := range blocks {
		out := numbers[b*(wordPlaces+conceptPlaces):]
		in := words[b*wordPlaces : (b+1)*wordPlaces]
		for i := range half {
			one, other := float64(in[i]), float64(in[i+half])
			out[i] = common + float64(one*straight) - float64(other*across)
			out[i+half] = common + float64(other*straight) + float64(one*across)
		}
		for i, n := range concepts[b%(blocks/2)*conceptPlaces:][:conceptPlaces] {
			out[wordPlaces+i] = float64(float64(n)*level) * straight
		}
	}
	return &numbers
}

// nothing is the direction of all texts without features, such as an emoji or stop words alone. Its
// signs alternate over the places for words: at right angles to the common component, and nearly so
// to every feature.
func nothing() *[Dimensions]float64 {
	var numbers [Dimensions]float64
	for b := range blocks {
		out := numbers[b*(wordPlaces+conceptPlaces):][:wordPlaces]
		for i := range out {
			out[i] = math.Sqrt(1.0/wordNumbers) * float64(1-2*(i%2))
		}
	}
	return &numbers
}

// half of a block's places for words: each is centred on its own, and turning mixes the two.
const half = wordPlaces / 2

// centre takes the mean out of every half block. The common component has the same number in all
// places for words, so what is centred is at right angles to it, also when it is turned, and where
// a vector is cut short at the end of a block. All numbers grow by the length of a half block,
// which normalising undoes.
func centre(words *[wordNumbers]int64) {
	for start := 0; start < wordNumbers; start += half {
		total := int64(0)
		for _, n := range words[start : start+half] {
			total += n
		}
		for i := start; i < start+half; i++ {
			words[i] = words[i]*half - total
		}
	}
}

// turn returns the cosine and the sine of the angle by which a text is turned away from the
// questions about it: the less it says, the more, since a text of few words is made of a question's
// words by chance more easily than of one's meaning, and dividing by lengths alone favours it
// (pivoted normalisation: Singhal, Buckley and Mitra 1996). All texts are turned in one plane each,
// so that texts of one length nearly keep their cosines. Questions, which have no heading, stay.
func turn(square int64, headed bool) (cosine, sine float64) {
	if !headed {
		return 1, 0
	}
	const p = pivot * unit
	whole := math.Sqrt(float64(square) + p*p)
	return math.Sqrt(float64(square)) / whole, p / whole
}
