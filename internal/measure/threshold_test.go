package measure_test

import (
	"testing"

	"tasklens/internal/measure"
)

func TestCutFor(t *testing.T) {
	t.Parallel()
	matches, strangers := []float64{0.9, 0.8, 0.6, 0.4}, []float64{0.7, 0.3, 0.2, 0.1}
	for precision, want := range map[float64]measure.Cut{
		0.5:  {Threshold: 0.1, Precision: 1 / 1.75, Recall: 1, Strangers: 0.75},
		0.75: {Threshold: 0.3, Precision: 0.8, Recall: 1, Strangers: 0.25},
		0.9:  {Threshold: 0.7, Precision: 1, Recall: 0.5, Strangers: 0},
	} {
		if got, ok := measure.CutFor(matches, strangers, precision); !ok || got != want {
			t.Errorf("precision %v: %+v, %t; want %+v", precision, got, ok, want)
		}
	}
	if got := measure.CutAt(matches, strangers, 0.7); got.Recall != 0.5 || got.Strangers != 0 {
		t.Errorf("a score equal to the threshold was not counted: %+v", got)
	}
	for name, c := range map[string][2][]float64{"no scores": {}, "no matches": {nil, strangers}, "all strangers above all matches": {{0.1}, {0.2}}} {
		if got, ok := measure.CutFor(c[0], c[1], 0.9); ok {
			t.Errorf("%s: got %+v, want no threshold", name, got)
		}
	}
}
