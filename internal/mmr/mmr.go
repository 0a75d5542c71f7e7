// Package mmr chooses results that are relevant and unlike each other.
//
// It owns maximal marginal relevance and nothing else: it must not know what
// the candidates are, where their scores come from, or how likeness is
// measured.
package mmr

import "math"

// Select returns the indices of up to k of the len(relevance) candidates in
// the order chosen by maximal marginal relevance (Carbonell and Goldstein, "The
// Use of MMR, Diversity-Based Reranking", SIGIR 1998). The most relevant comes
// first; each next one maximises
//
//	lambda · relevance[i] − (1 − lambda) · max over the chosen j of similarity(i, j)
//
// so that lambda 1 is plain relevance order and lambda 0 as much diversity as
// there is. Of equal candidates the one with the lower index comes first.
//
// Relevance and similarity want the same scale, such as 0 to 1. similarity(i,
// j) is asked with i a candidate and j already chosen, at most once for a pair:
// fewer than k·n times in all, and never when lambda is 1. A relevance that is
// not a number ranks below all others, a similarity that is not a number counts
// as 0 (nothing is known), and a lambda outside 0 to 1 as the nearer end (not a
// number: 1). k may be anything; the result is never nil.
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

	// nearest holds each candidate's greatest similarity to the chosen, which
	// saves asking again for every pair at every step; taken marks the chosen.
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

// first returns the index of the greatest relevance, the lowest such index.
func first(relevance []float64) int {
	best := 0
	for i := range relevance {
		if marginal(relevance[i], 0, 1) > marginal(relevance[best], 0, 1) {
			best = i
		}
	}
	return best
}

// marginal is the score that is maximised. An end of lambda drops the other
// term altogether, since 0 times an infinity is not a number; what is still
// not a number is the worst of scores, so that every comparison has an answer.
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

// known returns similarity, or 0 where it is not a number.
func known(similarity float64) float64 {
	if math.IsNaN(similarity) {
		return 0
	}
	return similarity
}
