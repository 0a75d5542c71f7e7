package api_test

import (
	"slices"
	"strings"
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
