// Package mmr chooses results that are relevant and unlike each other.
//
// It implements maximal marginal relevance only. It does not know what the candidates are, where
// their scores come from or how similarity is measured.
package mmr

import "math"

// Select returns the indices of up to k of the len(relevance) candidates in
// the order chosen by maximal marginal relevance (Carbonell and Goldstein, "The
// Use of MMR, Diversity-Based Reranking", SIGIR 1998). The most relevant comes
// first; each next one maximises
//
//	lambda · relevance[i] − (1 − lambda) · max over the chosen j of similarity(i, j)
//
// so lambda 1 is plain relevance order and lambda 0 is maximum diversity. Ties are resolved by the
// lower index.
//
// Relevance and similarity should have the same scale, such as 0 to 1. similarity(i, j) is called
// with a candidate i and a chosen j, at most once per pair: fewer than k·n calls in total, and none
// if lambda is 1. A NaN relevance ranks last and a NaN similarity counts as 0. lambda is clamped to
// 0..1; NaN counts as 1. k may be any number. The result is never nil.
func Select(relevance []float64, similarity func(i, j int) float64, k int, lambda float64) []int {
	k = max(0, min(k, len(relevance)))
	chosen := make([]int, 0, k)
	if k == 0 {
		return chosen
	}
	if math.IsNaN(lambda) {
		lambda = 1
	}
	lambda = max(0, min(lambda, 1))

	// nearest holds each candidate's greatest similarity to the chosen items, so that no pair is
	// computed twice. taken marks the chosen.
	nearest := make([]float64, len(relevance))
	for i := range nearest {
		nearest[i] = math.Inf(-1)
	}
	taken := math.NaN()

	last := first(relevance)
	for {
		chosen = append(chosen, last)
		nearest[last] = taken
		if len(chosen) == k {
			return chosen
		}
		best, bestScore := -1, 0.0
		for i, near := range nearest {
			if math.IsNaN(near) {
				continue
			}
			if lambda < 1 {
				near = max(near, known(similarity(i, last)))
				nearest[i] = near
			}
			score := marginal(relevance[i], near, lambda)
			if best < 0 || score > bestScore {
				best, bestScore = i, score
			}
		}
		last = best
	}
}

// first returns the lowest index of the greatest relevance.
func first(relevance []float64) int {
	best := 0
	for i := range relevance {
		if marginal(relevance[i], 0, 1) > marginal(relevance[best], 0, 1) {
			best = i
		}
	}
	return best
}

// marginal is the score to maximise. At lambda 0 or 1 the other term is dropped, because 0 times
// infinity is NaN. A score that is still NaN counts as the lowest, so that comparisons are well
// defined.
func marginal(relevance, nearest, lambda float64) float64 {
	var score float64
	switch lambda {
	case 0:
		score = -nearest
	case 1:
		score = relevance
	default:
		score = lambda*relevance - (1-lambda)*nearest
	}
	if math.IsNaN(score) {
		return math.Inf(-1)
	}
	return score
}

// known returns similarity, or 0 if it is NaN.
func known(similarity float64) float64 {
	if math.IsNaN(similarity) {
		return 0
	}
	return similarity
}
