package embed

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

type pair struct{ query, text string }

func readPairs(t *testing.T, file string) []pair {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var pairs []pair
	for line := range strings.Lines(string(content)) {
		if query, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && line[0] != '#' {
			pairs = append(pairs, pair{query, text})
		}
	}
	return pairs
}

// TestParaphrases requires that pairs with the same meaning are more similar than a query and
// another pair's text: the fraction of such comparisons is the area under the ROC curve (AUC).
// Held-out pairs check that this generalises.
func TestParaphrases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file  string
		least int     // pairs
		auc   float64 // at least
	}{
		{"paraphrases.tsv", 200, 0.96},
		{"heldout.tsv", 30, 0.90},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			pairs := readPairs(t, c.file)
			if len(pairs) < c.least {
				t.Fatalf("%d pairs, want at least %d", len(pairs), c.least)
			}
			var queries, texts [][]float32
			for _, p := range pairs {
				queries, texts = append(queries, Of3Small.Vector(p.query, Dimensions)), append(texts, Of3Small.Vector(p.text, Dimensions))
			}
			var same, other []float64
			for i, q := range queries {
				for j, x := range texts {
					if i == j {
						same = append(same, cosine(q, x))
					} else {
						other = append(other, cosine(q, x))
					}
				}
			}
			above := 0
			for _, s := range same {
				for _, o := range other {
					if s > o {
						above++
					}
				}
			}
			auc := float64(above) / float64(len(same)*len(other))
			t.Logf("AUC %.4f over %d pairs", auc, len(pairs))
			if auc < c.auc {
				t.Errorf("AUC = %.4f, want at least %v", auc, c.auc)
			}
		})
	}
}

// TestThreshold: the equivalent of 0.70 on the scale High is a sensible threshold if about one in a
// hundred random pairs of a query and a chunk exceeds it.
func TestThreshold(t *testing.T) {
	t.Parallel()
	var cosines []float64
	var chunks [][]float32
	for _, chunk := range readChunks(t) {
		chunks = append(chunks, Of3Small.Vector(chunk, Dimensions))
	}
	for _, p := range readPairs(t, "paraphrases.tsv") {
		query := Of3Small.Vector(p.query, Dimensions)
		for _, chunk := range chunks {
			cosines = append(cosines, cosine(query, chunk))
		}
	}
	slices.Sort(cosines)
	at := cosines[len(cosines)*99/100]
	t.Logf("99th percentile of %d pairs: %.4f", len(cosines), at)
	if math.Abs(at-near) > 0.09 {
		t.Errorf("the 99th percentile of random pairs is %.3f, want about %.3f", at, near)
	}
}
