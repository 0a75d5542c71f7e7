package measure_test

import (
	"math"
	"testing"

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
}

// Gains are not transformed: a at rank 2 has gain 3 and b at rank 1 has gain 1.
//
//	DCG   1 + 3/log2(3) = 1 + 1.892789260714 = 2.892789260714
//	ideal 3 + 1/log2(3) = 3 + 0.630929753571 = 3.630929753571
func TestGradedGains(t *testing.T) {
	t.Parallel()
	near(t, "nDCG@10", measure.NDCG([]string{"b", "a"}, measure.Judged{"a": 3, "b": 1}, 10), 2.892789260714/3.630929753571)
}
