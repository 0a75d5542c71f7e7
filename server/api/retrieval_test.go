package api_test

import (
	"slices"
	"testing"
)

// Keyword retrieval does not call the model, and leaves no trace in the cache and the query log.
func TestSearchByKeywordAlone(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging)
	before := len(s.model.inputs(t))
	const query = "payment charged"
	for range 2 {
		got := read[struct {
			found
			Retrieval string
			Facets    struct{ Status, Project []struct{ Count int } }
		}](s.post("/api/hybrid-search", map[string]any{"query": query, "retrieval": "keyword", "facets": true, "explain": true}))
		if got.Retrieval != "keyword" || got.Cached || len(got.Degraded) > 0 || !slices.Equal(got.Executed, []string{"keyword"}) {
			t.Fatalf("the response says %+v", got)
		}
		if len(got.Results) == 0 || len(got.Facets.Status) == 0 || len(got.Facets.Project) == 0 {
			t.Fatalf("found were %q, with the facets %+v", got.names(), got.Facets)
		}
		for _, h := range got.Results {
			if h.Source != "keyword" || h.VectorRank != nil || h.KeywordRank == nil || h.Explain == nil || h.Explain.Vector != nil {
				t.Errorf("found was %+v", h)
			}
		}
	}
	if asked := s.model.inputs(t)[before:]; len(asked) > 0 {
		t.Errorf("embedded were %q", asked)
	}
	// The same words with both searches are another request, which is logged.
	s.post("/api/hybrid-search", map[string]any{"query": query, "retrieval": "hybrid"}, "X-Request-Id", "both")
	if asked := s.model.inputs(t)[before:]; !slices.Equal(asked, []string{query}) {
		t.Errorf("embedded were %q", asked)
	}
	if rows := s.queryLog(); len(rows) != 1 || rows["both"].Kind != "search" {
		t.Errorf("logged were %+v", rows)
	}
}
