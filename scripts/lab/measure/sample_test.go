package measure_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tasklens/scripts/lab/measure"
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
