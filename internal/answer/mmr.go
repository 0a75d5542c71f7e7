package answer

// mmr returns the indices of up to k candidates, chosen one after the other by maximal marginal
// relevance (Carbonell and Goldstein, SIGIR 1998). The most relevant comes first; each next one
// maximises
//
//	lambda · relevance[i] − (1 − lambda) · max over the chosen j of similarity(i, j)
//
// so lambda 1 is relevance order and lambda 0 maximum diversity. Ties go to the lower index. No
// pair is compared twice, and none if lambda is 1.
func mmr(relevance []float64, similarity func(i, j int) float64, k int, lambda float64) []int {
	chosen, taken := []int{}, make([]bool, len(relevance))
	nearest := make([]float64, len(relevance)) // the greatest similarity to a chosen one
	for len(chosen) < min(k, len(relevance)) {
		best, bestScore := -1, 0.0
		for i, score := range relevance {
			if taken[i] {
				continue
			}
			if n := len(chosen); n > 0 && lambda < 1 {
				if near := similarity(i, chosen[n-1]); n == 1 || near > nearest[i] {
					nearest[i] = near
				}
				score = lambda*score - (1-lambda)*nearest[i]
			}
			if best < 0 || score > bestScore {
				best, bestScore = i, score
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
	}
	return chosen
}
