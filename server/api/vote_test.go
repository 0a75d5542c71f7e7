package api_test

import (
	"math"
	"net/http"
	"testing"

	"tasklens/internal/knowledge"
)

// utility returns a document's utility_score from the API.
func (s *service) utility(id string) float64 {
	s.t.Helper()
	document, err := knowledge.Get(s.t.Context(), s.rows, id, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return document.UtilityScore
}

// With AUTH=off a vote is the service's, or the user's whose token is sent.
func TestVotesOfUnknownCallers(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load([]project{{Key: "A", Name: "a"}}, nil)
	run(t, s.connect(), `insert into public.project_members (project_id, user_id) values ($1, $2)`, s.ids["A"], userID(1))
	ids := s.shelve(notes[0])
	path := "/api/knowledge/documents/" + ids["Raft"] + "/feedback"
	for range 3 {
		s.post(path, map[string]any{"helpful": true}).want(http.StatusNoContent)
		s.post(path, map[string]any{"helpful": false}, asking(s.user(1))...).want(http.StatusNoContent)
	}
	if got := s.utility(ids["Raft"]); math.Abs(got-30.0/23) > 1e-9 {
		t.Errorf("three votes of the service and one of a user make %v", got)
	}
}
