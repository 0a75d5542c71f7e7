package embed

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Noise returns a random unit vector, independent of the text's meaning and the same for the same
// text. It shows how much a useless model harms a ranking.
func Noise(text string, d int) []float32 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	random := rand.New(rand.NewPCG(hash.Sum64(), 0))
	vector, square := make([]float64, max(1, min(d, Dimensions))), 0.0
	for i := range vector {
		vector[i] = random.NormFloat64()
		square += vector[i] * vector[i]
	}
	out, norm := make([]float32, len(vector)), math.Sqrt(square)
	for i, x := range vector {
		out[i] = float32(x / norm)
	}
	return out
}
