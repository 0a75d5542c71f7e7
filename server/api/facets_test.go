package api_test

import (
	"maps"
	"net/http"
	"testing"
)

type facet struct {
	Value int64
	Label string
	Count int
}

type counted struct {
	found
	Facets *struct{ Status, Project []facet }
	Capped bool `json:"facets_capped"`
}

func (s *service) count(query string, more map[string]any) counted {
	s.t.Helper()
	body := map[string]any{"query": query, "facets": true}
	maps.Copy(body, more)
	got := read[counted](s.post("/api/hybrid-search", body))
	if got.Facets == nil {
		s.t.Fatalf("%s: no facets", query)
	}
	return got
}

func TestFacetsFail(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.database.answer("search_facets", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
	s.post("/api/hybrid-search", map[string]any{"query": "payment"}).want(http.StatusOK)
	s.database.answer("search_hybrid", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
}
