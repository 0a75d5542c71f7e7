package embed

import "math/bits"

// A sum adds up the directions of features in integers. A concept has its own axis: a row of
// Sylvester's Hadamard matrix, so numbers of ±1 and orthogonal to the others. The many other
// features have wordNumbers numbers of ±1 from splitmix64, seeded with the feature's hash: any two
// are nearly orthogonal (cosine 0 ± 0.031), and none is stored.
type sum struct {
	words    [wordNumbers]int64
	concepts [conceptNumbers]int64
	square   int64 // of all weights
}

func (s *sum) add(f Feature) {
	weight := int64(f.Weight)
	s.square += weight * weight
	signed := [2]int64{weight, -weight}
	if 0 < f.concept && f.concept < conceptNumbers {
		for i, column := range columns {
			s.concepts[i] += signed[bits.OnesCount(uint(f.concept&column))&1]
		}
		return
	}
	state := f.Hash
	for i := 0; i < wordNumbers; i += 64 {
		numbers := mix(state)
		state += splitmixStep
		for j := range 64 {
			s.words[i+j] -= signed[numbers>>j&1]
		}
	}
}

// columns are 0..conceptNumbers-1, shuffled (Fisher and Yates), so that rows also differ in a part
// of them, where a vector is truncated to less than half.
var columns = func() (c [conceptNumbers]int) {
	for i := range c {
		c[i] = i
	}
	for i := len(c) - 1; i > 0; i-- {
		j := mix(uint64(i)) % uint64(i+1)
		c[i], c[j] = c[j], c[i]
	}
	return c
}()

const splitmixStep = 0x9e3779b97f4a7c15

// mix is the output function of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func mix(z uint64) uint64 {
	z += splitmixStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
