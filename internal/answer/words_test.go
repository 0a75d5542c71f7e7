package answer

import "testing"

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
