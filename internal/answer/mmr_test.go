package answer

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// candidates generates relevances and a symmetric similarity with many ties.
func drawn(t *rapid.T) ([]float64, [][]float64) {
	n := rapid.IntRange(0, 25).Draw(t, "n")
	score := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) / 4 }),
		rapid.Float64Range(-1, 1),
	)
	relevance := rapid.SliceOfN(score, n, n).Draw(t, "relevance")
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][i] = 1
		for j := range i {
			rows[i][j] = score.Draw(t, "similarity")
			rows[j][i] = rows[i][j]
		}
	}
	return relevance, rows
}

// reference is an unoptimised implementation of the paper's formula.
func reference(relevance []float64, rows [][]float64, k int, lambda float64) []int {
	var chosen []int
	for len(chosen) < min(k, len(relevance)) {
		best, bestScore := -1, 0.0
		for i := range relevance {
			if slices.Contains(chosen, i) {
				continue
			}
			score := relevance[i]
			if len(chosen) > 0 {
				nearest := math.Inf(-1)
				for _, j := range chosen {
					nearest = max(nearest, rows[i][j])
				}
				score = lambda*relevance[i] - (1-lambda)*nearest
			}
			if best < 0 || score > bestScore {
				best, bestScore = i, score
			}
		}
		chosen = append(chosen, best)
	}
	return chosen
}

func TestMMRMatchesTheFormula(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		relevance, rows := drawn(t)
		k := rapid.IntRange(0, 30).Draw(t, "k")
		lambda := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1})).Draw(t, "lambda")
		asked := map[[2]int]int{}
		var chosenSoFar []int
		got := mmr(relevance, func(i, j int) float64 {
			asked[[2]int{i, j}]++
			if len(chosenSoFar) == 0 || chosenSoFar[len(chosenSoFar)-1] != j {
				chosenSoFar = append(chosenSoFar, j)
			}
			return rows[i][j]
		}, k, lambda)

		if want := reference(relevance, rows, k, lambda); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if !slices.Equal(chosenSoFar, got[:len(chosenSoFar)]) {
			t.Fatalf("similarities were computed to %v, but %v were chosen", chosenSoFar, got)
		}
		if bound := len(got) * len(relevance); len(asked) > bound {
			t.Fatalf("%d similarities were computed, at most %d are needed", len(asked), bound)
		}
		for pair, times := range asked {
			if times > 1 {
				t.Fatalf("similarity%v was computed %d times", pair, times)
			}
		}
	})
}
