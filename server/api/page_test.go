package api_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/search"
)

func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	tickets := make([]ticket, 25)
	for i := range tickets {
		tickets[i] = ticket{Key: fmt.Sprintf("TX-%d", i+1), Project: "TX", Name: fmt.Sprintf("Payment problem %d", i%7), Description: strings.Repeat("payment ", i%3)}
	}
	s.index(checkout, tickets[:15])
	s.load(checkout, tickets[15:]) // and some that are not embedded yet
	whole := s.search("payment", map[string]any{"limit": 100})
	if len(whole.Results) < 25 || whole.HasMore {
		t.Fatalf("found were %d, has_more %t", len(whole.Results), whole.HasMore)
	}
	seen := map[string]bool{}
	for _, name := range whole.names() {
		if seen[name] {
			t.Errorf("%s was found twice", name)
		}
		seen[name] = true
	}
	for _, size := range []int{1, 4, 7, len(whole.Results)} {
		var together []string
		for offset, more := 0, true; more; offset += size {
			page := s.search("payment", map[string]any{"limit": size, "offset": offset})
			together, more = append(together, page.names()...), page.HasMore
			if more && len(page.Results) != size {
				t.Errorf("a page of %d at %d has %d results", size, offset, len(page.Results))
			}
			if offset > len(whole.Results) {
				t.Fatalf("pages of %d never end", size)
			}
		}
		if !slices.Equal(together, whole.names()) {
			t.Errorf("pages of %d are %q together, not %q", size, together, whole.names())
		}
	}
	if page := s.search("payment"); len(page.Results) != 10 || !page.HasMore {
		t.Errorf("the page without a limit has %d results, has_more %t", len(page.Results), page.HasMore)
	}
	if page := s.search("payment", map[string]any{"limit": 1, "offset": 999}); len(page.Results) != 0 || page.HasMore {
		t.Errorf("the page behind the end is %+v", page)
	}
}

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
