package answer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Forty candidates of the greatest length of a chunk, as a question has them where nearly everything is similar.
func BenchmarkChoose(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	found := make([]candidate, candidates)
	for i := range found {
		words := make([]string, 350)
		for j := range words {
			words[j] = fmt.Sprintf("w%dord", random.IntN(2000))
		}
		found[i] = chunkOf(int64(i), 1, 0.9-float64(i)/100, strings.Join(words, " "))
	}
	found = alike(found, 0.6, nil)
	q := question(5, 0.5)
	for b.Loop() {
		choose(found, q)
	}
}
