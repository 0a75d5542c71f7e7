// Package measure says how good rankings are, and how sure that is. It owns the usual measures of retrieval for one
// query, and the statistics over many queries; it must not know what is ranked, by whom, or where judgements come from.
package measure

import (
	"maps"
	"math"
	"slices"
)

// Judged holds the gains of the items that are relevant to one query, all above 0; what is not in it is worth nothing.
type Judged map[string]float64

// NDCG is the normalised discounted cumulative gain of the first k of ranked, 0 to 1 (Järvelin and Kekäläinen, TOIS
// 2002; with the discount log2(rank + 1), rank from 1, and the gain itself, not 2^gain − 1, which for gains of 0 and 1
// is the same). The ideal ranking holds all of judged by falling gain. Nothing judged: 0.
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

// Recall is the share of the judged items that are among the first k of ranked, 0 to 1. Nothing judged: 0.
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

// ReciprocalRank is 1 / rank of the first judged item among the first k of ranked, 0 where there is none. Its mean over
// queries is MRR@k.
func ReciprocalRank(ranked []string, judged Judged, k int) float64 {
	for rank, item := range first(ranked, k) {
		if judged[item] > 0 {
			return 1 / float64(rank+1)
		}
	}
	return 0
}

// first returns the first k of ranked. A ranking names an item once; a second time would count twice, so it is taken
// for a miss.
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

// ideal is the gain of the best ranking there can be, discounted.
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
