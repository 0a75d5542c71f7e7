package api_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/reembed"
	"tasklens/scripts/lab/offline"
)

// unasked is a database that cannot report the serving model until it recovers.
type unasked struct {
	well  atomic.Bool
	model string
	err   error
}

func (u *unasked) Call(_ context.Context, _ string, _, result any) error {
	if !u.well.Load() {
		return cmp.Or(u.err, errors.New("connection refused"))
	}
	*result.(*[]reembed.Sets) = []reembed.Sets{{Model: u.model}}
	return nil
}

// Until the model of the stored vectors is known, nothing is embedded: search uses keywords, and
// requests that need vectors are rejected.
func TestTheServingModelIsNotKnownYet(t *testing.T) {
	t.Parallel()
	for name, forgetful := range map[string]bool{"with a cache": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serving := &unasked{model: offline.EmbeddingModel + "@768"}
			s := startTracker(t, func(c *setup) { c.serving, c.forgetful = serving, forgetful })
			before := len(s.model.requests("embeddings"))
			for range 2 {
				got := s.search("payment TX-400")
				if !slices.Equal(got.Executed, []string{"keyword"}) || !slices.Equal(got.Degraded, []string{"vector"}) || got.Cached || len(got.Results) < 3 {
					t.Errorf("executed %q, degraded %q, cached %t, found were %q", got.Executed, got.Degraded, got.Cached, got.names())
				}
			}
			for path, body := range map[string]map[string]any{
				"/api/query":           {"question": doubleCharge, "retrieval": "hybrid"},
				"/api/tickets/similar": {"text": "charged twice"},
			} {
				if got := s.post(path, body).want(http.StatusServiceUnavailable); got.header.Get("Retry-After") == "" {
					t.Errorf("%s: no Retry-After", path)
				}
			}
			s.post("/api/query", map[string]any{"question": doubleCharge, "stream": true}).want(http.StatusServiceUnavailable)
			s.get(fmt.Sprintf("/api/tickets/%d/similar", s.ids["TX-400"])).want(http.StatusServiceUnavailable)
			s.post("/api/query", map[string]any{"question": doubleCharge, "corpus": "documents"}).want(http.StatusOK)
			if asked := len(s.model.requests("embeddings")) - before; asked != 1 {
				t.Errorf("the model was asked %d times, want once: for the documents, which are always of the configured model", asked)
			}

			serving.well.Store(true)
			for len(s.search("payment TX-400").Degraded) > 0 && !t.Failed() {
				time.Sleep(50 * time.Millisecond) // a failure is remembered for a moment
			}
			s.post("/api/query", map[string]any{"question": doubleCharge}).want(http.StatusOK)
		})
	}
}

// While the database is known to be down, nothing is embedded for what it would have to find.
func TestNothingIsEmbeddedForADatabaseThatIsDown(t *testing.T) {
	t.Parallel()
	serving := &unasked{model: offline.EmbeddingModel + "@768", err: fault.New(fault.Unavailable, "The database is not reachable.")}
	serving.well.Store(true)
	s := startTracker(t, func(c *setup) { c.serving = serving })
	s.search("payment")
	serving.well.Store(false)
	s.database.intercept(func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	calls := 0
	ask := func(send func(text string) *response) (embedded int) {
		before := len(s.model.requests("embeddings"))
		calls++
		send(fmt.Sprintf("charged twice, for the %dth time", calls)).want(http.StatusServiceUnavailable)
		return len(s.model.requests("embeddings")) - before
	}
	requests := map[string]func(text string) *response{
		"query": func(text string) *response { return s.post("/api/query", map[string]any{"question": text}) },
		"documents": func(text string) *response {
			return s.post("/api/query", map[string]any{"question": text, "corpus": "documents"})
		},
		"stream": func(text string) *response {
			return s.post("/api/query", map[string]any{"question": text, "stream": true})
		},
		"similar": func(text string) *response { return s.post("/api/tickets/similar", map[string]any{"text": text}) },
		"batch": func(text string) *response {
			return s.post("/api/tickets/similar/batch", map[string]any{"items": []any{map[string]any{"text": text}}})
		},
		"search":    func(text string) *response { return s.post("/api/hybrid-search", map[string]any{"query": text}) },
		"knowledge": func(text string) *response { return s.get("/api/knowledge/search?q=" + url.QueryEscape(text)) },
	}
	for ask(requests["query"]) > 0 && calls < 200 { // the last reading is from before
		time.Sleep(50 * time.Millisecond)
	}
	for name, send := range requests {
		if ask(send) > 0 {
			t.Errorf("%s: the model was asked", name)
		}
	}
}
