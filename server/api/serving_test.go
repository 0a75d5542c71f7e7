package api_test

import (
	"net/http"
	"strings"
	"testing"

	"tasklens/scripts/lab/offline"
)

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
