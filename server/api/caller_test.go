package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/identity"
	"tasklens/internal/knowledge"
	"tasklens/scripts/lab/gateway"
)

const someDocument = "00000000-0000-4000-8000-000000000001"

// The callers, by number: the role that the database reports for each.
var actors = map[int]string{2: "viewer", 3: "member", 4: "admin"}

const outsider, aViewer, aMember, anAdmin = 1, 2, 3, 4

// everyone lists the callers of routes that only row-level security restricts.
var everyone = []int{outsider, aViewer, aMember, anAdmin}

// permissions lists every route that is not public, with a valid request and the callers who may
// use it.
var permissions = []struct {
	method, path, body string
	may                []int
}{
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice"}`, everyone},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","retrieval":"hybrid"}`, everyone},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","corpus":"documents"}`, everyone},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","corpus":"all"}`, everyone},
	{http.MethodPost, "/api/hybrid-search", `{"query":"why","facets":true}`, everyone},
	{http.MethodPost, "/api/tickets/similar", `{"text":"why"}`, everyone},
	{http.MethodGet, "/api/tickets/T-1", "", everyone},
	{http.MethodGet, "/api/tickets/1/similar", "", everyone},
	{http.MethodGet, "/api/tickets/T-1", "", everyone},
	{http.MethodGet, "/api/me", "", everyone},
	{http.MethodGet, "/api/projects", "", everyone},
	{http.MethodGet, "/api/statuses", "", everyone},
	{http.MethodPost, "/api/projects/4/language", `{"language":"german"}`, []int{anAdmin}},
	{http.MethodPost, "/api/projects/999/language", `{}`, nil},
	{http.MethodGet, "/api/knowledge/search?q=x&track=false", "", everyone},
	{http.MethodGet, "/api/knowledge/search?q=x&hybrid=true&track=false", "", everyone},
	{http.MethodGet, "/api/knowledge/entities/x", "", everyone},
	{http.MethodGet, "/api/knowledge/documents/" + someDocument, "", everyone},
	{http.MethodGet, "/api/knowledge/documents/" + someDocument + "/similar", "", everyone},
	{http.MethodPost, "/api/knowledge/documents/" + someDocument + "/feedback", `{"helpful":true}`, []int{aViewer, aMember, anAdmin}},
	{http.MethodPost, "/api/knowledge/documents", `{"id":"` + someDocument + `","title":"x","content":"x"}`, []int{anAdmin}},
	{http.MethodPost, "/api/knowledge/enrich/batch", `{"batch_size":1}`, []int{anAdmin}},
	{http.MethodGet, "/api/knowledge/enrich/stats", "", []int{anAdmin}},
	{http.MethodGet, "/api/embeddings/status", "", []int{anAdmin}},
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":3}`, []int{aMember}}, // only the third is a member
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":4}`, []int{anAdmin}},
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":2}`, nil}, // the second is a viewer there
	{http.MethodPost, "/api/embeddings/generate", `{"project_id":999}`, nil},
	{http.MethodDelete, "/api/knowledge/documents/" + someDocument, "", []int{anAdmin}},
}

// startHouse starts a service with AUTH=on over a database that returns to each user only their own
// data.
func startHouse(t *testing.T, changes ...func(*setup)) *service {
	t.Helper()
	s := start(t, append([]func(*setup){authenticated}, changes...)...)
	s.load([]project{{Key: "A", Name: "a"}, {Key: "B", Name: "b"}, {Key: "C", Name: "c"}, {Key: "D", Name: "d"}}, nil) // with the ids 1 to 4
	id := someDocument
	if _, _, err := knowledge.Put(t.Context(), s.rows, knowledge.Draft{ID: &id, Title: "x", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	run(t, s.connect(), `insert into project_members (project_id, user_id, role) values (4, $1, 'admin')`, userID(anAdmin))
	s.houseTenants(actors)
	return s
}

// A caller without the right gets an error and nothing else happens; one with it gets only their
// own data. Users' data is read with their token; the service's own work uses its key.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	s := startHouse(t)
	service := "Bearer " + s.token("service_role")
	for _, p := range permissions {
		for _, who := range everyone {
			before := len(s.database.all())
			token := s.user(who)
			r := s.send(p.method, p.path, p.body, asking(token)...)
			want := slices.Contains(p.may, who)
			if refused := r.status == http.StatusForbidden; refused == want || !refused && r.status >= 300 {
				t.Errorf("%s %s %s by the user %d: %d %s", p.method, p.path, p.body, who, r.status, r.text)
			}
			for _, request := range s.database.all()[before:] {
				got := request.header.Get("Authorization")
				asks := request.name == "caller_role" || request.name == "may_write_project" || request.name == "set_project_language" // the database refuses it
				switch _, isRead := reads[request.name]; {
				case isRead || asks:
					if got != "Bearer "+token {
						t.Errorf("%s: %s was not asked with the token of the user %d", p.path, request.name, who)
					}
				case !want:
					t.Errorf("%s by the user %d: %s was asked all the same", p.path, who, request.name)
				case got == "Bearer "+token:
					t.Errorf("%s: %s was asked with the user's token", p.path, request.name)
				}
			}
		}
		// The service key may call every route and reads everything: here, nothing of any tenant.
		if r := s.send(p.method, p.path, p.body, "Authorization", service); r.status == http.StatusForbidden || r.status == http.StatusUnauthorized || strings.Contains(r.text, "tenant-") {
			t.Errorf("%s %s by the service: %d %s", p.method, p.path, r.status, r.text)
		}
	}
}

// With AUTH=on a request without a valid token is rejected before anything else is done.
func TestNoTokenNoAnswer(t *testing.T) {
	t.Parallel()
	s := startHouse(t)
	sign := func(secret []byte, role string, more ...any) string {
		claims := map[string]any{"role": role, "exp": time.Now().Add(time.Hour).Unix()}
		for i := 0; i < len(more); i += 2 {
			claims[more[i].(string)] = more[i+1]
		}
		token, err := gateway.Token(secret, claims)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	before := len(s.database.all())
	for name, header := range map[string][]string{
		"none":              nil,
		"empty":             {"Authorization", ""},
		"another scheme":    {"Authorization", "Basic dTpw"},
		"nonsense":          asking("nonsense"),
		"another's":         asking(sign([]byte(strings.Repeat("other", 10)), "authenticated", "sub", userID(1), "aud", "authenticated", "iss", issuer)),
		"another's service": asking(sign([]byte(strings.Repeat("other", 10)), "service_role")),
		"expired":           asking(s.user(1, "exp", time.Now().Add(-time.Hour).Unix())),
		"another audience":  asking(s.user(1, "aud", "another")),
		"another issuer":    asking(s.user(1, "iss", "https://other.supabase.co/auth/v1")),
		"anonymous key":     asking(sign(s.secret, "anon", "iss", "supabase")),
	} {
		for _, p := range permissions {
			for _, body := range []string{p.body, "nonsense"} {
				r := s.send(p.method, p.path, body, header...).want(http.StatusUnauthorized)
				r.wantTokenCode(name)
				if r.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: %s: WWW-Authenticate is %q", name, p.path, r.header.Get("WWW-Authenticate"))
				}
			}
		}
	}
	if asked := s.database.all()[before:]; len(asked) > 0 {
		t.Errorf("the database was called for %s, %d times", asked[0].name, len(asked))
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
		s.get(path).want(http.StatusOK)
	}
}

// An unreachable key set is not reported as the caller's fault, and readiness reports it.
func TestUnreachableKeySet(t *testing.T) {
	t.Parallel()
	key := ""
	s := start(t, func(c *setup) {
		c.verifier = func(_ *service, options identity.Options) *identity.Verifier {
			key, options.Issuers, options.KeySetURL = options.ServiceKey, []string{issuer}, "http://127.0.0.1:1/jwks.json"
			return identity.New(options)
		}
	})
	elsewhere := "eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ." + strings.Split(s.user(1), ".")[1] + ".AAAA"
	if r := s.get("/api/projects", asking(elsewhere)...).want(http.StatusServiceUnavailable); r.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	if r := s.get("/readyz"); r.status != http.StatusServiceUnavailable || !strings.Contains(r.text, `"missing":["key set"]`) {
		t.Errorf("readiness: %d %s", r.status, r.text)
	}
	s.get("/healthz").want(http.StatusOK)
	s.get("/api/projects", asking(key)...).want(http.StatusOK)
}

// In strict mode Supabase Auth decides whether a token is still valid.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"code":403,"error_code":"session_not_found","msg":"gone"}`)
	}))
	defer auth.Close()
	s := start(t, func(c *setup) {
		c.verifier = func(s *service, options identity.Options) *identity.Verifier {
			options.Issuers, options.Secret, options.SupabaseURL = []string{issuer}, s.secret, auth.URL
			return identity.New(options)
		}
	})
	if code := s.get("/api/projects", asking(s.user(1, "session_id", "ended"))...).want(http.StatusUnauthorized).problem().Code; code != "session_ended" {
		t.Errorf("the code is %q", code)
	}
}
