package api_test

import (
	"math"
	"testing"
)

func TestSearchFusion(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ask := func(fusion string) found {
		return s.search("payment page charged twice", map[string]any{"fusion": fusion, "explain": true, "match_threshold": 0.5})
	}
	ranks, scores := ask("rrf"), ask("convex")
	if ranks.Fusion != "rrf" || scores.Fusion != "convex" || scores.Cached {
		t.Fatalf("the fusions are %q and %q, cached %t", ranks.Fusion, scores.Fusion, scores.Cached)
	}
	byRank := map[string]float64{}
	for _, h := range ranks.Results {
		if byRank[h.name()] = h.RRFScore; h.FusedScore != h.RRFScore {
			t.Errorf("%s has the scores %v and %v", h.name(), h.FusedScore, h.RRFScore)
		}
	}
	if len(scores.Results) != len(ranks.Results) || len(scores.Results) < 3 {
		t.Fatalf("found were %q and %q", ranks.names(), scores.names())
	}
	best, last := 0.0, math.Inf(1)
	for _, h := range scores.Results {
		sum := 0.0
		if h.Explain.Vector != nil {
			sum += h.Explain.Vector.Contribution
		}
		if h.Explain.Keyword != nil {
			sum += h.Explain.Keyword.Contribution
			best = max(best, h.Explain.Keyword.Contribution)
		}
		if math.Abs(sum-h.FusedScore) > 1e-12 || h.FusedScore > last {
			t.Errorf("%s has the score %v of %v, after %v", h.name(), h.FusedScore, sum, last)
		}
		if last = h.FusedScore; h.RRFScore != byRank[h.name()] {
			t.Errorf("%s has the rrf_score %v, with the other fusion %v", h.name(), h.RRFScore, byRank[h.name()])
		}
	}
	if math.Abs(best-0.6) > 1e-12 {
		t.Errorf("the best by words adds %v", best)
	}
}

// A request overrides the setting.
func TestFusionSetting(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.fusion = "convex" })
	if got := s.search("payment"); got.Fusion != "convex" {
		t.Errorf("the fusion is %q", got.Fusion)
	}
	if got := s.search("payment", map[string]any{"fusion": "rrf"}); got.Fusion != "rrf" {
		t.Errorf("the fusion that was asked for is %q", got.Fusion)
	}
}
