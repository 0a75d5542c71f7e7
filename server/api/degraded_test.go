package api_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// If the model fails in any way, search falls back to keywords and reports it.
func TestSearchDegraded(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.attemptTimeout = 200 * time.Millisecond })
	for name, fail := range map[string]func(){
		"500": func() { s.model.answer("embeddings", 500, upstreamText) },
		"429": func() {
			s.model.answer("embeddings", 429, `{"error":{"message":"`+upstreamText+`"}}`, "Retry-After", "60")
		},
		"too long": func() {
			s.model.answer("embeddings", 200, `{"data":[{"index":0,"embedding":[1`+strings.Repeat(",1", 1536)+`]}]}`)
		},
		"hangs": func() { s.model.hang("embeddings") },
	} {
		fail()
		got := s.search("payment TX-400")
		if !slices.Equal(got.Executed, []string{"keyword"}) || !slices.Equal(got.Degraded, []string{"vector"}) {
			t.Errorf("%s: executed %q, degraded %q", name, got.Executed, got.Degraded)
		}
		if len(got.Results) < 3 || got.Results[0].name() != "TX-400" {
			t.Errorf("%s: found were %q", name, got.names())
		}
		for _, h := range got.Results {
			if h.Source != "keyword" || h.Similarity != nil {
				t.Errorf("%s: found was %+v", name, h)
			}
		}
	}
}

// A request that cannot do without the embedding times out well before the request's own deadline.
func TestAModelThatHangs(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.requestTimeout = 5 * time.Minute })
	s.client.Timeout = 2 * time.Minute
	s.model.hang("embeddings")
	var asking sync.WaitGroup
	for name, ask := range map[string]func() *response{
		"question": func() *response { return s.post("/api/query", map[string]any{"question": "why"}) },
		"hybrid question": func() *response {
			return s.post("/api/query", map[string]any{"question": "why", "retrieval": "hybrid"})
		},
		"stream":        func() *response { return s.post("/api/query", map[string]any{"question": "why not", "stream": true}) },
		"draft":         func() *response { return s.post("/api/tickets/similar", map[string]any{"text": "It leaks"}) },
		"documents":     func() *response { return s.get("/api/knowledge/search?q=why") },
		"hybrid search": func() *response { return s.get("/api/knowledge/search?q=why&hybrid=true") },
	} {
		asking.Go(func() {
			if r := ask(); r.status != http.StatusGatewayTimeout || !strings.Contains(r.text, "The model provider did not answer in time.") {
				t.Errorf("%s: %d %s", name, r.status, r.text)
			}
		})
	}
	asking.Wait()
}
