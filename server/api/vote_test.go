package api_test

import (
	"errors"
	"math"
	"net/http"
	"testing"

	"tasklens/internal/knowledge"
	"tasklens/internal/postgrest"
	"tasklens/internal/testbed"
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

// A user has one vote on a document, however they cast it, and cannot cast another user's.
func TestAUserHasOneVote(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated)
	s.load([]project{{Key: "A", Name: "a"}}, nil)
	run(t, s.connect(), `insert into public.project_members (project_id, user_id) select $1, unnest($2::text[])::uuid`, s.ids["A"], []string{userID(1), userID(2)})
	id := someDocument
	if _, _, err := knowledge.Put(t.Context(), s.rows, knowledge.Draft{ID: &id, Title: "x"}); err != nil {
		t.Fatal(err)
	}
	path := "/api/knowledge/documents/" + id + "/feedback"
	vote := func(token string, helpful bool) int {
		return s.post(path, map[string]any{"helpful": helpful}, asking(token)...).status
	}
	want := func(what string, score float64) {
		t.Helper()
		if got := s.utility(id); math.Abs(got-score) > 1e-9 {
			t.Errorf("%s: the score is %v, not %v", what, got, score)
		}
	}
	one, two := s.user(1), s.user(2)
	for range 100 {
		if status := vote(one, true); status != http.StatusNoContent {
			t.Fatalf("a vote: %d", status)
		}
	}
	want("after 100 votes of one user", 0.5)
	vote(two, true)
	want("after another's", 20.0/21)
	vote(one, false)
	want("after a changed one", 10.0/21)

	// The voter is taken only from the token.
	for _, body := range []string{`{"helpful":true,"user_id":"` + userID(2) + `"}`, `{"helpful":false,"voter":null}`} {
		s.send(http.MethodPost, path, body, asking(one)...).want(http.StatusBadRequest)
	}
	s.send(http.MethodPost, path+"?user_id="+userID(2), `{"helpful":false}`, asking(one)...).want(http.StatusBadRequest)
	if status := vote(s.user(3), true); status != http.StatusForbidden {
		t.Errorf("a user of no project votes: %d", status)
	}
	direct := postgrest.New(s.database.url, "", testbed.Schema()).AsUser(one)
	for _, name := range []string{"user_id", "voter", "sub"} {
		var answer *postgrest.Error
		err := direct.Call(t.Context(), "rate_document", map[string]any{"doc_id": id, "helpful": false, name: userID(2)}, nil)
		if !errors.As(err, &answer) || answer.Code != postgrest.UnknownFunction {
			t.Errorf("a vote with %s: %v", name, err)
		}
	}
	want("after forged ones", 10.0/21)
	if err := direct.Call(t.Context(), "rate_document", map[string]any{"doc_id": id, "helpful": true}, nil); err != nil {
		t.Error(err)
	}
	want("after a vote past the service", 20.0/21)

	for range 2 {
		vote(s.token("service_role"), false)
	}
	want("after two of the service's", 20.0/23)
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
