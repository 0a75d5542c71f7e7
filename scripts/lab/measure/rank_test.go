package measure_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tasklens/scripts/lab/measure"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %.12f, want %.12f", what, got, want)
	}
}

// Computed by hand. b, d and z are relevant; the ranking has b at rank 2 and d at rank 4.
//
//	DCG   1/log2(3) + 1/log2(5)             = 0.630929753571 + 0.430676558073 = 1.061606311644
//	ideal 1/log2(2) + 1/log2(3) + 1/log2(4) = 1 + 0.630929753571 + 0.5        = 2.130929753571
func TestExampleComputedByHand(t *testing.T) {
	t.Parallel()
	ranked := []string{"a", "b", "c", "d", "e"}
	judged := measure.Judged{"b": 1, "d": 1, "z": 1}
	near(t, "nDCG@10", measure.NDCG(ranked, judged, 10), 1.061606311644/2.130929753571)
	near(t, "nDCG@3", measure.NDCG(ranked, judged, 3), 0.630929753571/2.130929753571)
	near(t, "nDCG@1", measure.NDCG(ranked, judged, 1), 0)
	near(t, "nDCG@2", measure.NDCG(ranked, judged, 2), 0.630929753571/1.630929753571)
	near(t, "recall@3", measure.Recall(ranked, judged, 3), 1.0/3)
	near(t, "recall@4", measure.Recall(ranked, judged, 4), 2.0/3)
	near(t, "recall@100", measure.Recall(ranked, judged, 100), 2.0/3)
	near(t, "reciprocal rank", measure.ReciprocalRank(ranked, judged, 10), 0.5)
	near(t, "reciprocal rank @1", measure.ReciprocalRank(ranked, judged, 1), 0)
}

// Gains are not transformed: a at rank 2 has gain 3 and b at rank 1 has gain 1.
//
//	DCG   1 + 3/log2(3) = 1 + 1.892789260714 = 2.892789260714
//	ideal 3 + 1/log2(3) = 3 + 0.630929753571 = 3.630929753571
func TestGradedGains(t *testing.T) {
	t.Parallel()
	near(t, "nDCG@10", measure.NDCG([]string{"b", "a"}, measure.Judged{"a": 3, "b": 1}, 10), 2.892789260714/3.630929753571)
}

func TestEmptyRankings(t *testing.T) {
	t.Parallel()
	judged := measure.Judged{"a": 1}
	for name, got := range map[string]float64{
		"nDCG without judgements":             measure.NDCG([]string{"a"}, nil, 10),
		"recall without judgements":           measure.Recall([]string{"a"}, nil, 10),
		"reciprocal rank without judgements":  measure.ReciprocalRank([]string{"a"}, nil, 10),
		"nDCG of an empty ranking":            measure.NDCG(nil, judged, 10),
		"recall of an empty ranking":          measure.Recall(nil, judged, 10),
		"reciprocal rank of an empty ranking": measure.ReciprocalRank(nil, judged, 10),
		"nDCG@0":                              measure.NDCG([]string{"a"}, judged, 0),
		"recall@-1":                           measure.Recall([]string{"a"}, judged, -1),
	} {
		near(t, name, got, 0)
	}
}

func TestDuplicatesInARankingCountOnce(t *testing.T) {
	t.Parallel()
	judged := measure.Judged{"a": 1, "b": 1}
	near(t, "recall with a duplicate", measure.Recall([]string{"a", "a"}, judged, 10), 0.5)
	near(t, "nDCG with a duplicate", measure.NDCG([]string{"a", "a", "b"}, judged, 10), 1.5/1.630929753571)
}

// For every ranking, all measures are between 0 and 1, recall increases with k, and moving a
// relevant item up never lowers a measure.
func TestPropertiesOfMeasures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.Permutation(letters(12)).Draw(t, "ranked")
		judged := measure.Judged{}
		for _, item := range rapid.SliceOfNDistinct(rapid.SampledFrom(letters(16)), 1, 8, rapid.ID[string]).Draw(t, "judged") {
			judged[item] = float64(rapid.IntRange(1, 3).Draw(t, "gain"))
		}
		k := rapid.IntRange(1, 14).Draw(t, "k")
		ndcg, recall, rank := measure.NDCG(items, judged, k), measure.Recall(items, judged, k), measure.ReciprocalRank(items, judged, k)
		for _, v := range []float64{ndcg, recall, rank} {
			if !(v >= 0 && v <= 1+1e-12) {
				t.Fatalf("measure %v is not between 0 and 1", v)
			}
		}
		if deeper := measure.Recall(items, judged, k+1); deeper < recall {
			t.Fatalf("recall decreases from %v to %v at a greater depth", recall, deeper)
		}
		i := rapid.IntRange(1, len(items)-1).Draw(t, "moved")
		if judged[items[i]] > judged[items[i-1]] {
			better := slices.Clone(items)
			better[i], better[i-1] = better[i-1], better[i]
			if measure.NDCG(better, judged, k) < ndcg-1e-12 || measure.ReciprocalRank(better, judged, k) < rank {
				t.Fatal("moving a relevant item up lowered a measure")
			}
		}
		ideal := slices.SortedFunc(slices.Values(letters(16)), func(a, b string) int { return int(judged[b] - judged[a]) })
		if best := measure.NDCG(ideal, judged, k); math.Abs(best-1) > 1e-12 {
			t.Fatalf("nDCG of the ideal ranking is %v, want 1", best)
		}
	})
}

func letters(n int) (out []string) {
	for i := range n {
		out = append(out, string(rune('a'+i)))
	}
	return out
}

func ExampleNDCG() {
	judged := measure.Judged{"TX-400": 1}
	fmt.Printf("%.3f\n", measure.NDCG([]string{"TX-400", "TX-7"}, judged, 10))
	fmt.Printf("%.3f\n", measure.NDCG([]string{"TX-7", "TX-400"}, judged, 10))
	// Output:
	// 1.000
	// 0.631
}
