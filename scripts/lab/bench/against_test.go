package bench

import (
	"slices"
	"testing"
)

func TestTimesBesideThoseOfAnotherCheckout(t *testing.T) {
	t.Parallel()
	var here, there []float64
	for i := range 20 {
		here, there = append(here, 102+float64(i)), append(there, 52+float64(i))
	}
	if got, want := beside(here, there), []string{"111.5", "61.5", "1.81", "1.76–1.87", "120.0", "70.0", "1.71"}; !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
}
