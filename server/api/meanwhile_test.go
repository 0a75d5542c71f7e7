package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Keyword search runs while the model embeds, with the same result as one call afterwards.
func TestKeywordsRankedWhileEmbedding(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	ranked := make(chan struct{}, 1)
	s.database.then(func(name string) {
		if name == "keyword_ranking" {
			ranked <- struct{}{}
		}
	})
	s.model.intercept(func(_ http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
		if name == "embeddings" {
			select {
			case <-ranked:
			case <-r.Context().Done():
			}
		}
		return false
	})
	for _, body := range []map[string]any{
		{"query": "payment charged twice TX-400"}, {"query": "payment page", "limit": 1, "offset": 1}, {"query": "refund -payment"},
		{"query": "slow payments", "status_filter": "To Do"}, {"query": "the authentication bug", "project_id": s.ids["IAM"]}, {"query": "nothing holds zzzz"},
	} {
		body["explain"] = true
		meanwhile := read[found](s.post("/api/hybrid-search", body))
		if asked := s.database.requests("search_hybrid"); !holds(t, asked[len(asked)-1].body, "keyword_ranking") {
			t.Errorf("%v: the ranking was not handed on", body)
		}
		// The query is embedded already: the same query again, with a parameter that misses the cache.
		body["facets"] = true
		once := read[found](s.post("/api/hybrid-search", body))
		if diff := cmp.Diff(once, meanwhile); diff != "" {
			t.Errorf("%v: one call (-) and two (+):\n%s", body, diff)
		}
	}
}

// The query is embedded before the data version shows whether the cache already has the response.
func TestAQueryIsEmbeddedWhileTheVersionIsRead(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.requestTimeout = 20 * time.Second })
	embedded := make(chan struct{}, 1)
	s.model.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "embeddings" {
			embedded <- struct{}{}
		}
		return false
	})
	s.database.intercept(func(_ http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
		if name == "data_version" {
			select {
			case <-embedded:
			case <-r.Context().Done():
			}
		}
		return false
	})
	for path, body := range map[string]map[string]any{
		"/api/hybrid-search": {"query": "charged twice"},
		"/api/query":         {"question": doubleCharge},
		"/api/query?":        {"question": "Which runbook is there?", "corpus": "documents"},
	} {
		s.post(path, body).from(madeAndKept)
	}
}

func holds(t *testing.T, body []byte, name string) bool {
	t.Helper()
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(body, &arguments); err != nil {
		t.Fatal(err)
	}
	_, there := arguments[name]
	return there
}
