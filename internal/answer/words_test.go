package answer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		want float64
	}{
		"nothing":            {"", "", 0},
		"one empty":          {"pump", "", 0},
		"the same":           {"The pump leaks, the pump!", "pump LEAKS", 1},
		"other forms":        {"charging customers", "charged? customer", 1.0 / 3}, // custom of chargi, charge and custom
		"half":               {"pump valve seal", "seal fence pump", 0.5},
		"none":               {"alpha beta", "gamma delta", 0},
		"usual or too short": {"who is the one", "who is at one", 0},
		"usual as a whole":   {"beforehand", "beforehand", 1},
		"order":              {"zeta alpha", "alpha zeta", 1},
		"other letters":      {"ÄPFEL, Ölfilter", "äpfel: ölfilt 12 a1 Ünd", 2.0 / 3},
		"digits":             {"TX-400 e400", "400", 0.5},
		"letters, not bytes": {"überfl", "überflüssig", 1},
	} {
		if got := overlap(wordsOf(c.a), wordsOf(c.b)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Stopping early changes no verdict, not even at the bound itself.
func TestOverlapReaches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	some := func() wordSet {
		set := wordSet{}
		for i := range 12 {
			if random.IntN(4) > 0 {
				set = append(set, uint64(i))
			}
		}
		return set
	}
	reached := 0
	for range 20_000 {
		a, b := some(), some()
		for _, least := range []float64{0.5, 0.75, 0.9, overlap(a, b)} {
			want := overlap(a, b) >= least
			if got := overlapReaches(a, b, least); got != want {
				t.Fatalf("%v and %v reach %v: %t", a, b, least, got)
			}
			if want && least > 0 && !slices.Equal(a, b) {
				reached++
			}
		}
	}
	if reached < 1000 {
		t.Errorf("only %d pairs reach it", reached)
	}
}
