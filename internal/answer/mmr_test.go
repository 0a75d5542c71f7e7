package answer

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// matrix reads similarities from a symmetric table.
func matrix(rows [][]float64) func(i, j int) float64 {
	return func(i, j int) float64 { return rows[i][j] }
}

// none is a similarity of 0 for every pair.
func none(int, int) float64 { return 0 }

func TestMMR(t *testing.T) {
	t.Parallel()
	// 0 and 1 are near duplicates, 2 has similarity 0.5 to both, 3 is dissimilar to all others.
	rows := [][]float64{
		{1.0, 0.9, 0.5, 0.0},
		{0.9, 1.0, 0.5, 0.0},
		{0.5, 0.5, 1.0, 0.1},
		{0.0, 0.0, 0.1, 1.0},
	}
	relevance := []float64{0.9, 0.8, 0.7, 0.3}
	for _, test := range []struct {
		name       string
		relevance  []float64
		similarity func(i, j int) float64
		k          int
		lambda     float64
		want       []int
	}{
		{"lambda 1 is relevance order", relevance, matrix(rows), 4, 1, []int{0, 1, 2, 3}},
		{"lambda 0 is diversity after the most relevant", relevance, matrix(rows), 4, 0, []int{0, 3, 2, 1}},
		// After 0: 1 → .4−.45 = −.05, 2 → .35−.25 = .10, 3 → .15. After 3: 1 → −.05, 2 → .10.
		{"lambda 0.5", relevance, matrix(rows), 4, 0.5, []int{0, 3, 2, 1}},
		// After 0: 1 → .56−.27 = .29, 2 → .49−.15 = .34, 3 → .21. After 2: 1 → .29, 3 → .21−.03 = .18.
		{"lambda 0.7", relevance, matrix(rows), 3, 0.7, []int{0, 2, 1}},
		{"most relevant first at any index", []float64{0.1, 0.9, 0.5}, none, 3, 0.5, []int{1, 2, 0}},
		{"most relevant first with lambda 0", []float64{0.1, 0.9, 0.5}, none, 3, 0, []int{1, 0, 2}},
		{"ties by index", []float64{0.5, 0.5, 0.5}, none, 3, 0.5, []int{0, 1, 2}},
		{"ties by index, lambda 1", []float64{0.2, 0.5, 0.5}, none, 3, 1, []int{1, 2, 0}},
		{"k below the number of candidates", relevance, matrix(rows), 2, 0.5, []int{0, 3}},
		{"k above the number of candidates", []float64{0.1, 0.2}, none, 9, 0.5, []int{1, 0}},
		{"k 0", relevance, matrix(rows), 0, 0.5, []int{}},
		{"negative k", relevance, matrix(rows), -1, 0.5, []int{}},
		{"no candidates", nil, none, 3, 0.5, []int{}},
		{"negative similarities", []float64{0.9, 0.5, 0.5}, matrix([][]float64{{1, -0.2, -0.8}, {-0.2, 1, 0}, {-0.8, 0, 1}}), 3, 0.5, []int{0, 2, 1}},
		{"negative relevances", []float64{-3, -1, -2}, none, 3, 0.5, []int{1, 2, 0}},
		{"the highest similarity to a chosen item is subtracted, not the last", []float64{1, 0.9, 0.8, 0.8},
			matrix([][]float64{{1, 0, 0.9, 0.1}, {0, 1, 0.1, 0.2}, {0.9, 0.1, 1, 0}, {0.1, 0.2, 0, 1}}), 3, 0.5, []int{0, 1, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := mmr(test.relevance, test.similarity, test.k, test.lambda)
			if got == nil || !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

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
