package measure

import (
	"math"
	"slices"
)

// Mean is the arithmetic mean, or 0 if there are no values.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// StandardError is the standard error of the mean: the sample's standard deviation (n − 1) over √n.
// It is NaN for fewer than two values.
func StandardError(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return math.NaN()
	}
	mean, squares := Mean(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / (n - 1) / n)
}

// Quantile is the value below which a share p (0 to 1) of the values lies, interpolated (definition
// 7 of Hyndman and Fan, 1996). It is NaN if there are no values.
func Quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	place := min(max(p, 0), 1) * float64(len(sorted)-1)
	below := int(place)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (place-float64(below))*(sorted[above]-sorted[below])
}

// Differences returns a[i] − b[i], for the same queries ranked in two ways. Both slices have the
// same length.
func Differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
