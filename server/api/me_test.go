package api_test

import (
	"net/http"
	"testing"
)

func TestMe(t *testing.T) {
	t.Parallel()
	if text := start(t).get("/api/me").want(http.StatusOK).text; text != `{"role":"service"}` {
		t.Errorf("without a token, with AUTH=off: %s", text)
	}
	s := start(t, authenticated)
	s.load([]project{{Key: "TX", Name: "Checkout"}}, nil)
	run(t, s.connect(), "insert into public.project_members (project_id, user_id, role) values ($1, $2, 'member')", s.ids["TX"], userID(1))
	for user, want := range map[int]string{1: `{"role":"member"}`, 2: `{"role":"none"}`} {
		if text := s.get("/api/me", asking(s.user(user))...).want(http.StatusOK).text; text != want {
			t.Errorf("the user %d: %s", user, text)
		}
	}
	s.get("/api/me").want(http.StatusUnauthorized)
}
