package measure_test

import (
	"slices"
	"testing"

	"tasklens/scripts/lab/measure"
)

func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	if got := measure.Differences([]float64{3, 1}, []float64{1, 2}); !slices.Equal(got, []float64{2, -1}) {
		t.Errorf("the paired differences are %v", got)
	}
}
