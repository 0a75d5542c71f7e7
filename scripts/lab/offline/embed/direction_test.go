package embed

import (
	"os"
	"regexp"
	"testing"
)

// TestConceptsStandAtRightAngles checks whole directions, and halves, of which few may be similar.
func TestConceptsStandAtRightAngles(t *testing.T) {
	t.Parallel()
	var axes [conceptNumbers]*[conceptNumbers]int64
	for n := 1; n < conceptNumbers; n++ {
		var s sum
		s.add(Feature{Hash: mix(uint64(n)), Weight: 3, concept: n})
		for _, x := range s.words() {
			if x != 0 {
				t.Fatalf("concept %d has numbers in the places of words", n)
			}
		}
		axes[n] = s.concepts()
	}
	const half = conceptNumbers / 2
	for n := 1; n < conceptNumbers; n++ {
		for m := 1; m <= n; m++ {
			whole, first := int64(0), int64(0)
			for i := range conceptNumbers {
				whole += axes[n][i] * axes[m][i]
				if i == half-1 {
					first = whole
				}
			}
			if want := map[bool]int64{true: 9 * conceptNumbers}[n == m]; whole != want {
				t.Fatalf("concepts %d and %d: product %d, want %d", n, m, whole, want)
			}
			if n != m && (first < -9*half/2 || first > 9*half/2) {
				t.Errorf("the first halves of concepts %d and %d have the cosine %.2f", n, m, float64(first)/(9*half))
			}
		}
	}
}

// TestEveryConceptHasAnAxis: a concept without one would be hashed like a word.
func TestEveryConceptHasAnAxis(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../lexicon/concepts.txt")
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^[^#\s\[][^:\n]*:`).FindAll(text, -1)
	if len(heads) < 200 || len(heads) >= conceptNumbers {
		t.Errorf("the lexicon has %d concepts, want 200 to %d", len(heads), conceptNumbers-1)
	}
	var s sum
	s.add(Feature{Hash: 1, Weight: 1, concept: conceptNumbers})
	if s.words()[0] == 0 {
		t.Error("a concept too many is no feature at all")
	}
}
