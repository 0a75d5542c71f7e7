package embed

import (
	"math"
	"testing"
)

func TestNoise(t *testing.T) {
	t.Parallel()
	cosine := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	one, same, other := Noise("login fails", Dimensions), Noise("login fails", Dimensions), Noise("login failed", Dimensions)
	if len(one) != Dimensions || math.Abs(cosine(one, same)-1) > 1e-6 {
		t.Errorf("%d numbers, a cosine of %v with itself", len(one), cosine(one, same))
	}
	// Seven standard deviations.
	if c := cosine(one, other); math.Abs(c) > 7/math.Sqrt(Dimensions) {
		t.Errorf("a cosine of %v with another text", c)
	}
}
