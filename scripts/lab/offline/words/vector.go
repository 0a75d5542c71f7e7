// Package words is the embedding model words-1: texts are as similar as the words, stems and parts
// of words that they share. It knows no synonyms. Nor does it know HTTP or where a text comes from.
package words

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Dimensions is the length of a vector.
const Dimensions = 1536

// All texts share a common component, whose share of a vector's square is the cosine of unrelated
// ones. It has every sixteenth number, so that a vector's beginnings have as much of it.
const (
	commonShare = 0.12
	every       = 16
)

// pivot is the weight of what a text with a title shares with no other, because a short one matches
// by chance more easily (pivoted normalisation: Singhal, Buckley and Mitra 1996).
const pivot = 4

// Vector returns a text's vector of length 1. Its first d numbers, of length 1 again, are a coarser
// one. It is the same on every machine: sums are integers, and converted products are not fused
// with additions, which would round differently.
func Vector(text string) []float32 {
	features := Features(text)
	if strings.Contains(strings.TrimSpace(text), "\n") {
		features = append(features, Feature{hashOf(text), pivot * unit})
	} else if features == nil { // an emoji, or stop words only: as if all had one word of their own
		features = []Feature{{Weight: unit}}
	}
	var sum [Dimensions]int64
	for _, f := range features {
		// A feature's direction is numbers of ±1, seeded by its hash, and nearly orthogonal to others.
		random, signed := rand.NewPCG(f.Hash, 0), [2]int64{int64(f.Weight), -int64(f.Weight)}
		for i := 0; i < Dimensions; i += 64 {
			bits := random.Uint64()
			for j := range 64 {
				sum[i+j] += signed[bits>>j&1]
			}
		}
	}
	square := 0.0
	for i := range sum {
		if i%every == 0 {
			sum[i] = 0
		}
		square += float64(float64(sum[i]) * float64(sum[i]))
	}
	own, vector := math.Sqrt((1-commonShare)/square), make([]float32, Dimensions)
	for i, n := range sum {
		vector[i] = float32(float64(n) * own)
		if i%every == 0 {
			vector[i] = float32(math.Sqrt(commonShare * every / Dimensions))
		}
	}
	return vector
}
