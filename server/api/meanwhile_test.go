package api_test

import (
	"net/http"
	"testing"
	"time"
)

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
