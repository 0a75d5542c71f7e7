package measure_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/measure"
)

// The mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5 and the sum of squared deviations is 32: variance 32/7,
// standard error √(32/7/8).
func TestMeanAndStandardError(t *testing.T) {
	t.Parallel()
	values := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	near(t, "mean", measure.Mean(values), 5)
	near(t, "standard error", measure.StandardError(values), math.Sqrt(4.0/7))
	near(t, "mean of no values", measure.Mean(nil), 0)
	near(t, "standard error of equal values", measure.StandardError([]float64{3, 3, 3}), 0)
	if !math.IsNaN(measure.StandardError([]float64{1})) {
		t.Error("the standard error of a single value is not NaN")
	}
}

func TestQuantilesInterpolate(t *testing.T) {
	t.Parallel()
	values := []float64{40, 10, 30, 20}
	for p, want := range map[float64]float64{-1: 10, 0: 10, 0.5: 25, 0.95: 38.5, 1: 40, 2: 40} {
		near(t, fmt.Sprint("quantile ", p), measure.Quantile(values, p), want)
	}
	if values[0] != 40 {
		t.Error("the values were sorted in place")
	}
	near(t, "quantile of a single value", measure.Quantile([]float64{7}, 0.3), 7)
	if !math.IsNaN(measure.Quantile(nil, 0.5)) {
		t.Error("the median of no values is not NaN")
	}
}

func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	if got := measure.Differences([]float64{3, 1}, []float64{1, 2}); !slices.Equal(got, []float64{2, -1}) {
		t.Errorf("the paired differences are %v", got)
	}
}

// This shuffle reverses the order, so the halves are alternately the last two and the first two.
func TestHalvesAreMeansOfHalfTheValues(t *testing.T) {
	t.Parallel()
	reverse := func(n int, swap func(i, j int)) {
		for i := range n / 2 {
			swap(i, n-1-i)
		}
	}
	values := []float64{1, 2, 3, 10}
	if got := measure.Halves(values, 3, reverse); !slices.Equal(got, []float64{6.5, 1.5, 6.5}) {
		t.Errorf("the means are %v", got)
	}
	if !slices.Equal(values, []float64{1, 2, 3, 10}) {
		t.Error("the values were shuffled in place")
	}
}

// A half contains half of the values without repetition, so the spread of its mean is about the
// standard error of all values.
func TestSpreadOfHalvesIsTheStandardError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	values := make([]float64, 400)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	means := measure.Halves(values, 2000, random.Shuffle)
	spread := measure.StandardError(means) * math.Sqrt(float64(len(means)))
	if ratio := spread / measure.StandardError(values); ratio < 0.9 || ratio > 1.1 {
		t.Errorf("the spread of the halves' means is %.2f standard errors", ratio)
	}
}

func TestMeansOfHalvesAreWithinTheRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 20).Draw(t, "values")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, mean := range measure.Halves(values, 5, random.Shuffle) {
			if mean < slices.Min(values)-1e-12 || mean > slices.Max(values)+1e-12 {
				t.Fatalf("the mean %v is outside the range of %v", mean, values)
			}
		}
	})
}
