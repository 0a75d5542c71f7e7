// Package embed owns the offline embedding: it turns a text into a unit vector whose cosines say how far two texts
// are about the same thing. It must not know HTTP, and nothing of a text's origin.
//
// A text's features (stems, concepts, pairs, parts of words) each have a direction of their own; a text is their
// weighted sum. All texts share one more component, which lifts the cosines so that unrelated texts lie a little below
// 0.7 and related ones above, as a threshold of 0.7 expects.
package embed

import "math"

// Dimensions is the length of a vector. Its first d numbers, normalised again, are a coarser vector of the same text.
const Dimensions = 1536

// shared is the share of the common component in a vector's square: two texts that have nothing else in common have
// this cosine. It is set so that 1 of 100 random pairs of a short query and a chunk is above 0.70.
const shared = 0.595

// block is the length of the pieces that are each centred on their own. The common component has the same number
// everywhere, so a centred piece is at right angles to it, also where a vector is cut short at the end of a block.
const block = 32

// Vector returns the first d numbers of the text's unit vector, normalised again; d is clamped to 1..Dimensions.
// Every text has one, and it is the same in every process and on every machine: sums are integers, and the conversions
// around float products keep compilers from fusing them into operations that round differently.
func Vector(text string, d int) []float32 {
	d = max(1, min(d, Dimensions))
	var s sum
	for _, f := range Features(text) {
		s.add(f)
	}
	own := s.numbers()
	centre(own)
	square := 0.0
	for _, n := range own {
		square += float64(float64(n) * float64(n))
	}
	common, scale := math.Sqrt(1.0/Dimensions), 0.0
	if square > 0 { // else the text says nothing: only the common component is left
		common = math.Sqrt(shared / Dimensions)
		scale = math.Sqrt((1 - shared) / square)
	}
	var numbers [Dimensions]float64
	square = 0
	for i := range d {
		numbers[i] = common + float64(float64(own[i])*scale)
		square += float64(numbers[i] * numbers[i])
	}
	norm := math.Sqrt(square) // above 0: an own number would have to cancel the common one in every place
	vector := make([]float32, d)
	for i := range vector {
		vector[i] = float32(numbers[i] / norm)
	}
	return vector
}

// centre takes the mean out of every block; all numbers grow by the length of a block, which normalising undoes.
func centre(own *[Dimensions]int64) {
	for start := 0; start < Dimensions; start += block {
		total := int64(0)
		for _, n := range own[start : start+block] {
			total += n
		}
		for i := start; i < start+block; i++ {
			own[i] = own[i]*block - total
		}
	}
}
