package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tasklens/scripts/lab/gateway"
)

// routes lists every route that is not public, with a valid request.
var routes = []struct {
	method, path, body string
	may                []int  // users who may ask it
	otherwise          int    // the status for others
	function           string // the first that is called for the response itself; "": failures of it are another's matter
}{
	{http.MethodPost, "/api/query", `{"question":"why"}`, everyone, 0, "retrieve_chunks"},
	{http.MethodPost, "/api/query", `{"question":"why","corpus":"documents"}`, everyone, 0, "retrieve_chunks"},
	{http.MethodPost, "/api/query", `{"question":"why","corpus":"all"}`, everyone, 0, "retrieve_chunks"},
	{http.MethodPost, "/api/hybrid-search", `{"query":"why"}`, everyone, 0, "search_hybrid"},
	{http.MethodPost, "/api/hybrid-search", `{"query":"why","facets":true}`, everyone, 0, "search_facets"},
	{http.MethodPost, "/api/tickets/similar", `{"text":"why"}`, everyone, 0, "similar_tickets"},
	{http.MethodGet, "/api/tickets/1/similar", "", []int{anAdmin}, http.StatusNotFound, "find_similar_tickets"},
	{http.MethodGet, "/api/tickets/D-1", "", []int{anAdmin}, http.StatusNotFound, "get_ticket"},
	{http.MethodGet, "/api/me", "", everyone, 0, "caller_role"},
	{http.MethodGet, "/api/projects", "", everyone, 0, "list_projects"},
	{http.MethodGet, "/api/statuses", "", everyone, 0, "list_statuses"},
	{http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, everyone, 0, ""},
	{http.MethodPost, "/mcp", message("list_projects", nil), everyone, 0, ""},
	{http.MethodPost, "/api/projects/4/language", `{"language":"german"}`, []int{anAdmin}, http.StatusForbidden, ""},
	{http.MethodGet, "/api/knowledge/search?q=x&track=false", "", everyone, 0, "search_documents"},
	{http.MethodGet, "/api/knowledge/search?q=x&hybrid=true&track=false", "", everyone, 0, "search_documents_hybrid"},
	{http.MethodGet, "/api/knowledge/entities/x", "", everyone, 0, "find_documents_by_entity"},
	{http.MethodPost, "/api/knowledge/documents", `{"id":"` + someDocument + `","title":"x","content":"x"}`, []int{anAdmin}, http.StatusForbidden, "upsert_documents"},
	{http.MethodGet, "/api/knowledge/documents/" + someDocument, "", members, http.StatusNotFound, "get_document"},
	{http.MethodGet, "/api/knowledge/documents/" + someDocument + "/similar", "", members, http.StatusNotFound, "find_similar_documents"},
	{http.MethodPost, "/api/knowledge/documents/" + someDocument + "/feedback", `{"helpful":true}`, members, http.StatusForbidden, ""},
	{http.MethodPost, "/api/knowledge/enrich/batch", `{"batch_size":1}`, []int{anAdmin}, http.StatusForbidden, ""},
	{http.MethodGet, "/api/knowledge/enrich/stats", "", []int{anAdmin}, http.StatusForbidden, ""},
	{http.MethodGet, "/api/embeddings/status", "", []int{anAdmin}, http.StatusForbidden, "embedding_status"},
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":4}`, []int{anAdmin}, http.StatusForbidden, "find_sources"},
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":3}`, []int{aMember}, http.StatusForbidden, ""},
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":2}`, nil, http.StatusForbidden, ""}, // aViewer is one there
	{http.MethodDelete, "/api/knowledge/documents/" + someDocument, "", []int{anAdmin}, http.StatusForbidden, ""},
}

// A request is answered for whom its token names. Without a good one it is refused before anything
// else is done; with AUTH=off PostgREST judges tokens, and without one the service asks.
func TestTokens(t *testing.T) {
	t.Parallel()
	const asRouted = 0
	for auth, s := range map[string]*service{"off": startHouse(t), "on": startHouse(t, authenticated)} {
		sign := func(secret, role string, more ...any) string {
			claims := map[string]any{"role": role, "exp": time.Now().Add(time.Hour).Unix()}
			for i := 0; i < len(more); i += 2 {
				claims[more[i].(string)] = more[i+1]
			}
			token, err := gateway.Token([]byte(secret), claims)
			if err != nil {
				t.Fatal(err)
			}
			return "Bearer " + token
		}
		ours, others := string(s.secret), strings.Repeat("other", 10)
		service := sign(ours, "service_role")
		if auth == "on" {
			service = "Bearer " + s.token("service_role") // the key itself
		}
		for name, c := range map[string]struct {
			header  []string
			off, on int
		}{
			"none":                    {nil, http.StatusOK, http.StatusUnauthorized},
			"empty":                   {[]string{"Authorization", ""}, http.StatusUnauthorized, http.StatusUnauthorized},
			"scheme alone":            {[]string{"Authorization", "Bearer"}, http.StatusUnauthorized, http.StatusUnauthorized},
			"scheme and blank":        {asking(" "), http.StatusUnauthorized, http.StatusUnauthorized},
			"another scheme":          {[]string{"Authorization", "Basic dTpw"}, http.StatusUnauthorized, http.StatusUnauthorized},
			"no scheme":               {[]string{"Authorization", strings.TrimPrefix(service, "Bearer ")}, http.StatusUnauthorized, http.StatusUnauthorized},
			"two words":               {asking("one two"), http.StatusUnauthorized, http.StatusUnauthorized},
			"no token's letters":      {asking("a\x80b\""), http.StatusUnauthorized, http.StatusUnauthorized},
			"no token":                {asking("nonsense"), http.StatusUnauthorized, http.StatusUnauthorized},
			"three parts of nonsense": {asking("a.b.c"), http.StatusUnauthorized, http.StatusUnauthorized},
			"expired":                 {asking(s.user(1, "exp", 1)), http.StatusUnauthorized, http.StatusUnauthorized},
			"signed by another":       {[]string{"Authorization", sign(others, "authenticated", "sub", userID(1), "aud", "authenticated", "iss", issuer)}, http.StatusUnauthorized, http.StatusUnauthorized},
			"another's service":       {[]string{"Authorization", sign(others, "service_role")}, http.StatusUnauthorized, http.StatusUnauthorized},
			"unknown role":            {[]string{"Authorization", sign(ours, "nobody")}, http.StatusUnauthorized, http.StatusUnauthorized},
			"another audience":        {asking(s.user(1, "aud", "another")), asRouted, http.StatusUnauthorized},
			"another issuer":          {asking(s.user(1, "iss", "https://other.supabase.co/auth/v1")), asRouted, http.StatusUnauthorized},
			"anonymous":               {[]string{"Authorization", sign(ours, "anon", "iss", "supabase")}, http.StatusForbidden, http.StatusUnauthorized},
			"a stranger's":            {asking(s.user(outsider)), asRouted, asRouted},
			"the service's own":       {[]string{"Authorization", service}, http.StatusOK, http.StatusOK},
			"scheme in other case":    {[]string{"Authorization", strings.Replace(service, "Bearer", "bEARER", 1)}, http.StatusOK, http.StatusOK},
		} {
			before := len(s.database.all())
			for _, route := range routes {
				want := map[string]int{"off": c.off, "on": c.on}[auth]
				if want == asRouted {
					want = route.otherwise
					if auth == "off" && strings.HasSuffix(route.path, "/feedback") {
						want = http.StatusNotFound // it asks for no role, and row-level security hides the document
					}
				}
				r := s.send(route.method, route.path, route.body, c.header...)
				if succeeds := want <= http.StatusOK; succeeds != (r.status < 300) || !succeeds && r.status != want {
					t.Errorf("AUTH=%s, %s: %s %s answered %d, not %d: %s", auth, name, route.method, route.path, r.status, want, r.text)
				}
				if r.status != http.StatusUnauthorized {
					continue
				}
				r.wantTokenCode(name)
				if !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("%s: %s: WWW-Authenticate is %q", name, route.path, r.header.Get("WWW-Authenticate"))
				}
				if auth == "on" {
					s.send(route.method, route.path, "nonsense", c.header...).want(http.StatusUnauthorized)
				}
			}
			if asked := s.database.all()[before:]; auth == "on" && c.on == http.StatusUnauthorized && len(asked) > 0 {
				t.Errorf("%s: the database was called for %s, %d times", name, asked[0].name, len(asked))
			}
		}
		// Liveness is public.
		for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
			s.get(path, asking("nonsense")...).want(http.StatusOK)
			s.get(path).want(http.StatusOK)
		}
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
