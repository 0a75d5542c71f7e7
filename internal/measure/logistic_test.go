package measure_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"tasklens/internal/measure"
)

// With only two distinct scores the fit is exact: each probability is the mean of its smoothed
// targets. One in four is right at score 0, three in four at score 1. With 4 right and 4 wrong,
// targets are 5/6 and 1/6, means 1/3 and 2/3: intercept ln(1/2), slope 2 ln 2.
func TestFitLogistic(t *testing.T) {
	t.Parallel()
	values := []measure.Scored{{0, true}, {0, false}, {0, false}, {0, false}, {1, true}, {1, true}, {1, true}, {1, false}}
	fit, ok := measure.FitLogistic(values)
	if !ok {
		t.Fatal("FitLogistic found no fit")
	}
	if math.Abs(fit.Intercept+math.Ln2) > 1e-6 || math.Abs(fit.Slope-2*math.Ln2) > 1e-6 || math.Abs(fit.At(1)-2.0/3) > 1e-6 {
		t.Errorf("%+v has the probability %v at score 1", fit, fit.At(1))
	}
	for name, c := range map[string][]measure.Scored{
		"no values": nil, "only right values": {{1, true}}, "only wrong values": {{1, false}},
		"wrong values have the higher scores": {{0, true}, {0.2, true}, {0.8, false}, {1, false}},
	} {
		if fit, ok := measure.FitLogistic(c); ok {
			t.Errorf("%s: fitted %+v, want no fit", name, fit)
		}
	}
}

// For any scores the fit is finite and rising.
func TestFitLogisticOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) measure.Scored {
			return measure.Scored{Score: rapid.Float64Range(0, 1).Draw(t, "score"), Right: rapid.Bool().Draw(t, "right")}
		}), 0, 60).Draw(t, "values")
		fit, ok := measure.FitLogistic(values)
		if !ok {
			return
		}
		low, high := fit.At(0), fit.At(1)
		if math.IsNaN(low) || math.IsNaN(high) || low < 0 || high > 1 || low > high {
			t.Fatalf("%+v has the probability %v at 0 and %v at 1", fit, low, high)
		}
	})
}

func TestLeastFor(t *testing.T) {
	t.Parallel()
	values := []measure.Scored{{0.9, true}, {0.8, true}, {0.7, false}, {0.6, true}, {0.6, true}, {0.5, false}, {0.4, false}}
	for _, c := range []struct {
		precision float64
		support   int
		want      float64
		ok        bool
	}{
		{1, 1, 0.8, true}, {1, 3, 0, false}, {0.8, 1, 0.6, true}, {0.8, 5, 0.6, true}, {0.8, 6, 0, false}, {0.5, 1, 0.4, true}, {0.75, 4, 0.6, true},
	} {
		if got, ok := measure.LeastFor(values, c.precision, c.support); ok != c.ok || got != c.want {
			t.Errorf("precision %v with support %d: %v, %t; want %v", c.precision, c.support, got, ok, c.want)
		}
	}
}
