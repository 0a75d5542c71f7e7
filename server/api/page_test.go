package api_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/search"
)

func TestSearchExplained(t *testing.T) {
	t.Parallel()
	weights := search.Weights{Vector: 0.5, Keyword: 2}
	s := startTracker(t, func(c *setup) { c.weights = weights })
	got := s.search("payment page charged twice TX-401", map[string]any{"explain": true, "match_threshold": 0.05})
	kinds := map[string]int{}
	last := math.Inf(1)
	for _, h := range got.Results {
		sum := 0.0
		var by []string
		if h.Explain == nil {
			t.Fatalf("%s is not explained", h.name())
		}
		if v := h.Explain.Vector; v != nil {
			by = append(by, "vector")
			sum += v.Contribution
			if v.Weight != weights.Vector || v.Rank != *h.VectorRank || v.Similarity != *h.Similarity ||
				math.Abs(v.Contribution-weights.Vector/float64(60+v.Rank)) > 1e-12 {
				t.Errorf("%s: vector is %+v", h.name(), *v)
			}
		}
		if k := h.Explain.Keyword; k != nil {
			by = append(by, "keyword")
			sum += k.Contribution
			if k.Weight != weights.Keyword || k.Rank != *h.KeywordRank || math.Abs(k.Contribution-weights.Keyword/float64(60+k.Rank)) > 1e-12 {
				t.Errorf("%s: keyword is %+v", h.name(), *k)
			}
		}
		if math.Abs(sum-h.RRFScore) > 1e-12 || !slices.Equal(by, h.MatchedBy) {
			t.Errorf("%s: contributions are %v of %v by %q, matched by %q", h.name(), sum, h.RRFScore, by, h.MatchedBy)
		}
		if (h.Similarity == nil) != (h.Explain.Vector == nil) || (h.Source == "vector") != (h.Explain.Vector != nil) {
			t.Errorf("%s: source is %s, similarity %v, explanation %+v", h.name(), h.Source, h.Similarity, h.Explain)
		}
		if !h.Exact {
			if h.RRFScore > last {
				t.Errorf("%s has the score %v after %v", h.name(), h.RRFScore, last)
			}
			last = h.RRFScore
		}
		kinds[strings.Join(by, "+")]++
	}
	if kinds["vector"] == 0 || kinds["vector+keyword"] == 0 {
		t.Errorf("results were found by %v: the test wants more kinds", kinds)
	}
	if got := s.search("payment"); got.Results[0].Explain != nil {
		t.Error("explained without being asked")
	}
}
