package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tasklens/scripts/lab/offline"
)

// While the database is down, nothing is embedded for what it would have to find.
func TestNothingIsEmbeddedForADatabaseThatIsDown(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
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
		"similar":   func(text string) *response { return s.post("/api/tickets/similar", map[string]any{"text": text}) },
		"search":    func(text string) *response { return s.post("/api/hybrid-search", map[string]any{"query": text}) },
		"knowledge": func(text string) *response { return s.get("/api/knowledge/search?q=" + url.QueryEscape(text)) },
	}
	for name, send := range requests {
		if ask(send) > 0 {
			t.Errorf("%s: the model was asked", name)
		}
	}
}

// Queries are embedded by the model of the serving set from the moment that it serves; those of
// documents alone by the configured one.
func TestQueriesAreEmbeddedByTheServingModel(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for round, want := range []bool{false, true} {
		for i, request := range []struct {
			path string
			body map[string]any
		}{
			{"/api/hybrid-search", map[string]any{"query": "payment"}}, {"/api/query", map[string]any{"question": doubleCharge}},
			{"/api/tickets/similar", map[string]any{"text": "charged twice"}}, {"/api/query", map[string]any{"question": doubleCharge + "?", "corpus": "documents"}},
		} {
			before := len(s.model.requests("embeddings"))
			s.post(request.path, request.body).want(http.StatusOK)
			made := s.model.requests("embeddings")[before:]
			if isDocuments := i == 3; isDocuments && round == 1 {
				if len(made) > 0 {
					t.Errorf("documents: embedded again, by %s", made[0].body)
				}
			} else if len(made) != 1 || strings.Contains(string(made[0].body), `"dimensions":768`) != want {
				t.Errorf("%s, round %d: %d queries are embedded", request.path, round, len(made))
			}
		}
		run(t, s.connect(), `update tasklens.embedding_sets set model = $1`, offline.EmbeddingModel+"@768")
	}
}
