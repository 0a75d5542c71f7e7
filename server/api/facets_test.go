package api_test

import (
	"net/http"
	"testing"
)

func TestFacetsFail(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.database.answer("search_facets", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
	s.post("/api/hybrid-search", map[string]any{"query": "payment"}).want(http.StatusOK)
	s.database.answer("search_hybrid", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
}
