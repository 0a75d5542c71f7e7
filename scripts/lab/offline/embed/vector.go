// Package embed is the offline embedding model: it maps a text to a unit vector whose cosines
// measure how related two texts are. It does not know HTTP or where a text comes from.
//
// A text's features (stems, concepts, pairs, parts of words) each have a direction; the text is
// their weighted sum. All texts share a common component, whose share is the scale: it shifts all
// cosines alike and keeps their order. Texts without features are only similar to each other.
package embed

import "math"

// Dimensions is the length of a vector. Its first d numbers, normalised again, are a coarser vector
// of the same text.
const Dimensions = 1536

// A vector consists of blocks, so that it can be truncated. Each block has places for words (all
// features except concepts, and the common component) and places for concepts. Concepts are few and
// known in advance, so they have exact axes; every half of a vector contains them all.
const (
	blocks         = 16
	wordPlaces     = 64
	conceptPlaces  = 32
	wordNumbers    = blocks * wordPlaces
	conceptNumbers = blocks / 2 * conceptPlaces
)

// Scale is the share of the common component in a vector's square: the cosine of two unrelated
// texts. A cosine c on the scale from is to + (1 - to) * (c - from) / (1 - from) on the scale to.
type Scale float64

// Of3Small has the cosines of text-embedding-3-small. Unrelated questions and texts of the judged
// set and the sample have a median of 0.14, as there. Questions and their answers have 0.48 overall
// (there 0.50): 0.37 in the judged set, whose words differ more, and 0.63 in the sample. It was
// fitted to these medians only.
const Of3Small Scale = 0.12

// High is the scale of models such as text-embedding-ada-002, where unrelated texts are at 0.64: 1
// in 100 random pairs of a short query and a chunk exceeds 0.70.
const High Scale = 0.63

// pivot is the length, in units, at which a text with a heading is turned by 45°; see turn.
const pivot = 4

// Vector returns the first d numbers of the text's unit vector, normalised again; d is clamped to
// 1..Dimensions. It is the same on every machine: sums are integers, and conversions around float
// products prevent compilers from fusing them, which rounds differently.
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
	norm := math.Sqrt(square) // above 0, because the common component is never fully cancelled
	vector := make([]float32, d)
	for i := range vector {
		vector[i] = float32(numbers[i] / norm)
	}
	return vector
}

// numbers arranges the sum as a unit vector.
func (s *sum) numbers(scale Scale, headed bool) *[Dimensions]float64 {
	words, concepts := &s.words, &s.concepts
	centre(words)
	wordSquare, conceptSquare := 0.0, 0.0
	for _, n := range words {
		wordSquare += float64(float64(n) * float64(n))
	}
	// Equal weight on fewer places, corrected for centre's scaling.
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

// nothing is the direction of texts without features, such as an emoji or only stop words. Its
// signs alternate over the places for words: orthogonal to the common component and nearly so to
// every feature.
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

// half of a block's places for words: each half is centred separately, and turning mixes the two.
const half = wordPlaces / 2

// centre subtracts the mean of every half block. The common component is constant over the places
// for words, so the centred numbers are orthogonal to it, also after turning and after truncation
// at the end of a block. All numbers grow by the length of a half block, which normalising undoes.
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

// turn returns the cosine and sine of the angle by which a text is turned away from questions: the
// shorter, the more, because a short text matches a question by chance more easily (pivoted
// normalisation: Singhal, Buckley and Mitra 1996). Each text turns in one plane, so that texts of
// one length nearly keep their cosines. Questions, which have no heading, are not turned.
func turn(square int64, headed bool) (cosine, sine float64) {
	if !headed {
		return 1, 0
	}
	const p = pivot * unit
	whole := math.Sqrt(float64(square) + p*p)
	return math.Sqrt(float64(square)) / whole, p / whole
}
