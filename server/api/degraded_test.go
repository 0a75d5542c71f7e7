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
		"null":      func() { s.model.answer("embeddings", 200, "null") },
		"no JSON":   func() { s.model.answer("embeddings", 200, "{") },
		"no vector": func() { s.model.answer("embeddings", 200, `{"data":[]}`) },
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

// A hanging model does not use up a search's time. The late embedding is cached, requested only
// once, and completes the next search.
func TestALateEmbeddingCompletesTheNextSearch(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	const query = "payment TX-400"
	answer := make(chan struct{})
	s.model.intercept(func(_ http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
		if name == "embeddings" {
			select {
			case <-answer:
			case <-r.Context().Done():
			}
		}
		return false
	})
	if got := s.search(query); !slices.Equal(got.Degraded, []string{"vector"}) || len(got.Results) == 0 {
		t.Fatalf("degraded is %q, of %d results", got.Degraded, len(got.Results))
	}
	close(answer)
	for deadline := time.Now().Add(time.Minute); ; {
		if got := s.search(query); len(got.Degraded) == 0 {
			if got.Cached || !slices.Equal(got.Executed, []string{"vector", "keyword"}) {
				t.Errorf("the next search is cached (%v), of %q", got.Cached, got.Executed)
			}
			break
		} else if time.Now().After(deadline) {
			t.Fatal("searches stay degraded")
		}
	}
	asked := 0
	for _, input := range s.model.inputs(t) {
		if input == query {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the model was asked %d times", asked)
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
