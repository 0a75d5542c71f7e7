package measure_test

import (
	"testing"

	"tasklens/scripts/lab/measure"
)

func TestShareOver(t *testing.T) {
	t.Parallel()
	values := []float64{0.9, 0.8, 0.6, 0.4}
	for threshold, want := range map[float64]float64{0: 1, 0.5: 0.75, 0.6: 0.5, 0.9: 0} { // equal is not over
		if got := measure.ShareOver(values, threshold); got != want {
			t.Errorf("over %v: %v, want %v", threshold, got, want)
		}
	}
	if got := measure.ShareOver(nil, 0); got != 0 {
		t.Errorf("of no values: %v", got)
	}
}
