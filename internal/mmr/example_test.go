package mmr_test

import (
	"fmt"

	"tasklens/internal/mmr"
)

// The first two tickets are near duplicates; the third is less relevant but different.
func ExampleSelect() {
	names := []string{"Card charged twice", "Double charge on card", "Refund is late"}
	relevance := []float64{0.90, 0.88, 0.70}
	similarity := func(i, j int) float64 {
		if i+j == 1 { // the first two
			return 0.95
		}
		return 0.30
	}
	for _, i := range mmr.Select(relevance, similarity, 2, 0.5) {
		fmt.Println(names[i])
	}
	// Output:
	// Card charged twice
	// Refund is late
}
