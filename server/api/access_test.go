package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tasklens/scripts/lab/gateway"
)

// calls lists every route that reads the database, with a valid request.
var calls = []struct {
	method, path, body string
	stranger           int    // the status for a user who is a member of no project
	function           string // the first database function that is called
}{
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":1}`, http.StatusForbidden, "find_sources"},
	{http.MethodPost, "/api/query", `{"question":"why"}`, http.StatusOK, "retrieve_chunks"},
	{http.MethodPost, "/api/hybrid-search", `{"query":"why"}`, http.StatusOK, "search_hybrid"},
	{http.MethodPost, "/api/hybrid-search", `{"query":"why","facets":true}`, http.StatusOK, "search_facets"},
	{http.MethodGet, "/api/tickets/1/similar", "", http.StatusNotFound, "find_similar_tickets"},
	{http.MethodGet, "/api/tickets/TX-1", "", http.StatusNotFound, "get_ticket"},
	{http.MethodPost, "/api/tickets/similar", `{"text":"why"}`, http.StatusOK, "similar_tickets"},
	{http.MethodGet, "/api/me", "", http.StatusOK, "caller_role"},
	{http.MethodGet, "/api/projects", "", http.StatusOK, "list_projects"},
	{http.MethodGet, "/api/statuses", "", http.StatusOK, "list_statuses"},
	{http.MethodGet, "/api/embeddings/status", "", http.StatusForbidden, "embedding_status"},
	{http.MethodPost, "/api/knowledge/documents", `{"id":"00000000-0000-4000-8000-000000000001","title":"x","content":"x"}`, http.StatusForbidden, "upsert_documents"},
	{http.MethodGet, "/api/knowledge/documents/00000000-0000-4000-8000-000000000001", "", http.StatusNotFound, "get_document"},
	{http.MethodGet, "/api/knowledge/documents/00000000-0000-4000-8000-000000000001/similar", "", http.StatusNotFound, "find_similar_documents"},
	{http.MethodGet, "/api/knowledge/search?q=x", "", http.StatusOK, "search_documents"},
	{http.MethodGet, "/api/knowledge/search?q=x&hybrid=true", "", http.StatusOK, "search_documents_hybrid"},
	{http.MethodGet, "/api/knowledge/entities/x", "", http.StatusOK, "find_documents_by_entity"},
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load([]project{{Key: "TX", Name: "Checkout"}}, []ticket{{Key: "TX-1", Project: "TX", Name: "Charged twice"}}) // the first of each has the id 1
	s.shelve(map[string]any{"id": "00000000-0000-4000-8000-000000000001", "title": "x", "content": "x"})
	sign := func(secret string, claims map[string]any) string {
		token, err := gateway.Token([]byte(secret), claims)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token
	}
	const ofStranger = 0
	soon, past := time.Now().Add(time.Hour).Unix(), time.Now().Add(-time.Hour).Unix()
	for name, c := range map[string]struct {
		authorization string
		status        int
	}{
		"empty":                   {"", http.StatusUnauthorized},
		"scheme alone":            {"Bearer", http.StatusUnauthorized},
		"scheme and blank":        {"Bearer  ", http.StatusUnauthorized},
		"another scheme":          {"Basic dTpw", http.StatusUnauthorized},
		"no scheme":               {strings.TrimPrefix(sign(string(s.secret), map[string]any{"role": "service_role"}), "Bearer "), http.StatusUnauthorized},
		"two words":               {"Bearer one two", http.StatusUnauthorized},
		"no token's letters":      {"Bearer a\x80b\"", http.StatusUnauthorized},
		"no token":                {"Bearer nonsense", http.StatusUnauthorized},
		"three parts of nonsense": {"Bearer a.b.c", http.StatusUnauthorized},
		"expired":                 {sign(string(s.secret), map[string]any{"role": "service_role", "exp": past}), http.StatusUnauthorized},
		"signed by another":       {sign(strings.Repeat("other", 10), map[string]any{"role": "service_role", "exp": soon}), http.StatusUnauthorized},
		"unknown role":            {sign(string(s.secret), map[string]any{"role": "nobody", "exp": soon}), http.StatusUnauthorized},
		"authenticated":           {sign(string(s.secret), map[string]any{"role": "authenticated", "sub": "0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11", "exp": soon}), ofStranger},
		"anonymous":               {sign(string(s.secret), map[string]any{"role": "anon", "exp": soon}), http.StatusForbidden},
		"the service's own":       {sign(string(s.secret), map[string]any{"role": "service_role", "exp": soon}), http.StatusOK},
		"scheme in other case":    {strings.Replace(sign(string(s.secret), map[string]any{"role": "service_role", "exp": soon}), "Bearer", "bEARER", 1), http.StatusOK},
	} {
		for _, call := range calls {
			want := c.status
			if want == ofStranger {
				want = call.stranger
			}
			if r := s.send(call.method, call.path, call.body, "Authorization", c.authorization); r.status != want {
				t.Errorf("%s: %s answered %d, not %d: %s", name, call.path, r.status, want, r.text)
			} else if r.status == http.StatusUnauthorized {
				r.wantTokenCode(name)
			}
		}
	}
	// Liveness is public.
	for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
		s.get(path, "Authorization", "Bearer nonsense").want(http.StatusOK)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, id := range []string{"a", "0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11", "trace:1.2_3-4", strings.Repeat("x", 128)} {
		for path, status := range map[string]int{"/healthz": 200, "/api/projects": 200, "/nothing": 404, "/api/query": 405} {
			r := s.get(path, "X-Request-Id", id).want(status)
			if got := r.header["X-Request-Id"]; len(got) != 1 || got[0] != id {
				t.Errorf("%s: X-Request-Id is %q, not %q", path, got, id)
			}
		}
	}
	s.send(http.MethodPost, "/api/query", "{}", "X-Request-Id", "bad-request").want(http.StatusBadRequest)
	if !strings.Contains(s.log.String(), `"request_id":"bad-request"`) {
		t.Error("the id does not stand in the log")
	}
	made := map[string]bool{}
	for _, id := range []string{"", " ", "a b", "ä", "a;b", "<script>", `"`, "a,b", strings.Repeat("x", 129)} {
		got := s.get("/healthz", "X-Request-Id", id).want(http.StatusOK).header.Get("X-Request-Id")
		if !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(got) || made[got] {
			t.Errorf("X-Request-Id of %q is %q", id, got)
		}
		made[got] = true
	}
	if made[s.get("/healthz").header.Get("X-Request-Id")] {
		t.Error("an id was made twice")
	}
	// Requests that are rejected before routing keep their ids too.
	r := s.send("BREW", "/api/query", "", "X-Request-Id", "brewed").want(http.StatusMethodNotAllowed)
	if got := r.header.Get("X-Request-Id"); got != "brewed" {
		t.Errorf("X-Request-Id is %q", got)
	}
}
