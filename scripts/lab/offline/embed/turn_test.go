package embed

import (
	"math"
	"strings"
	"testing"
)

// TestShortTextsAreTurnedAway: of two texts with the same cosine, the longer one is closer to a
// question.
func TestShortTextsAreTurnedAway(t *testing.T) {
	t.Parallel()
	before := 0.0
	for _, length := range []int64{unit, 3 * unit, 9 * unit, 27 * unit} {
		cosine, sine := turn(length*length, true)
		if cosine <= before || math.Abs(cosine*cosine+sine*sine-1) > 1e-12 {
			t.Errorf("length %d: turned by cosine %v and sine %v; the shorter one by %v", length/unit, cosine, sine, before)
		}
		before = cosine
		if cosine, sine := turn(length*length, false); cosine != 1 || sine != 0 {
			t.Errorf("a text without a heading is turned by cosine %v and sine %v", cosine, sine)
		}
	}
	if cosine, sine := turn(pivot*pivot*unit*unit, true); math.Abs(cosine-sine) > 1e-12 {
		t.Errorf("at the pivot: cosine %v, sine %v, want 45°", cosine, sine)
	}
}

// TestTurnedTextsKeepTheirCosines, approximately: compares two texts of one length with and without
// the heading that causes the turn.
func TestTurnedTextsKeepTheirCosines(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"pump leaks oil", "pump leaks gas"}, {"pump leaks oil", "lamp makes din"}, {"pump leaks oil", "pump leaks oil"}} {
		var one, other sum
		for i, s := range []*sum{&one, &other} {
			features, _ := read(c[i])
			for _, f := range features {
				s.add(f)
			}
		}
		other.square = one.square // of the same length
		straight, turned := [2][]float64{}, [2][]float64{}
		for i, s := range []sum{one, other} {
			again := s
			straight[i], turned[i] = s.numbers(Of3Small, false)[:], again.numbers(Of3Small, true)[:]
		}
		want, got, mixed := product(straight[0], straight[1]), product(turned[0], turned[1]), product(straight[0], turned[1])
		if math.Abs(got-want) > 0.07 {
			t.Errorf("%q and %q: similarity %.3f when both are turned, want %.3f", c[0], c[1], got, want)
		}
		if want > float64(Of3Small)+0.24 && mixed > want-0.12 {
			t.Errorf("%q and %q: similarity %.3f when one is turned, want less than %.3f", c[0], c[1], mixed, want)
		}
	}
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestRepetitionSaysLittle(t *testing.T) {
	t.Parallel()
	if one, many := saturate(unit, once), saturate(unit, 1000*once); one != unit || many <= unit || many > 2*unit {
		t.Errorf("a word weighs %d once and %d a thousand times, want %d and at most %d", one, many, unit, 2*unit)
	}
	if got := similarity("login", "Gate — login\n\nlogin "+strings.Repeat("panic at main ", 60)); got < near {
		t.Errorf("a log of a panic leaves a similarity of %.3f to the heading, want %.3f", got, near)
	}
}
