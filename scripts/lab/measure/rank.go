// Package measure computes the quality of rankings and its uncertainty: the usual retrieval
// measures for one query, and statistics over many. It does not know what is ranked, by whom, or
// where judgements come from.
package measure

import (
	"maps"
	"math"
	"slices"
)

// Judged maps the items relevant to one query to their gains, all above 0. An item not in it has
// gain 0.
type Judged map[string]float64

// NDCG is the normalised discounted cumulative gain of the first k of ranked, 0 to 1 (Järvelin and
// Kekäläinen, TOIS 2002). The discount is log2(rank + 1), with ranks from 1. The gain is used as it
// is, not as 2^gain − 1, which is the same for gains of 0 and 1. The ideal ranking is all of judged
// by descending gain. If nothing is judged, NDCG is 0.
func NDCG(ranked []string, judged Judged, k int) float64 {
	best := ideal(judged, k)
	if best == 0 {
		return 0
	}
	sum := 0.0
	for rank, item := range first(ranked, k) {
		sum += judged[item] * discount(rank+1)
	}
	return sum / best
}

// Recall is the share of the judged items among the first k of ranked, 0 to 1. It is 0 if nothing
// is judged.
func Recall(ranked []string, judged Judged, k int) float64 {
	if len(judged) == 0 {
		return 0
	}
	found := 0
	for _, item := range first(ranked, k) {
		if judged[item] > 0 {
			found++
		}
	}
	return float64(found) / float64(len(judged))
}

// first returns the first k of ranked. A repeated item counts as a miss, so that it cannot score
// twice.
func first(ranked []string, k int) []string {
	ranked = ranked[:min(max(k, 0), len(ranked))]
	seen := make(map[string]bool, len(ranked))
	once := make([]string, len(ranked))
	for i, item := range ranked {
		if !seen[item] {
			seen[item], once[i] = true, item
		}
	}
	return once
}

// ideal is the discounted gain of the best possible ranking.
func ideal(judged Judged, k int) float64 {
	gains := slices.Sorted(maps.Values(judged))
	slices.Reverse(gains)
	sum := 0.0
	for rank, gain := range gains[:min(max(k, 0), len(gains))] {
		sum += gain * discount(rank+1)
	}
	return sum
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }
