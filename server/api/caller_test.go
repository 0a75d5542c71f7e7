package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tasklens/internal/identity"
)

const someDocument = "00000000-0000-4000-8000-000000000001"

// Users by number. The first is a member of no project.
const outsider, aViewer, aMember, anAdmin = 1, 2, 3, 4

var (
	everyone = []int{outsider, aViewer, aMember, anAdmin}
	members  = everyone[1:]
)

// startHouse starts a service over four projects, each but the first with one member, a ticket and
// a document.
func startHouse(t *testing.T, changes ...func(*setup)) *service {
	t.Helper()
	s := start(t, changes...)
	s.load([]project{{Key: "A", Name: "a"}, {Key: "B", Name: "b"}, {Key: "C", Name: "c"}, {Key: "D", Name: "d"}}, // with the ids 1 to 4
		[]ticket{{Key: "D-1", Project: "D", Name: "Charged twice"}})
	run(t, s.connect(), `insert into documents (id, title, content) values ($1, 'x', 'x')`, someDocument)
	s.embedDocuments()
	run(t, s.connect(), `insert into project_members (project_id, user_id, role) values (2, $1, 'viewer'), (3, $2, 'member'), (4, $3, 'admin')`,
		userID(aViewer), userID(aMember), userID(anAdmin))
	return s
}

// A caller without the right gets an error and nothing else happens. What row-level security
// restricts is read with the caller's token; the service's own work uses its key.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	s := startHouse(t, authenticated)
	// The database decides these itself.
	asUser := []string{"caller_role", "may_write_project", "set_project_language", "rate_document"}
	for _, route := range routes {
		for _, who := range everyone {
			before := len(s.database.all())
			token := s.user(who)
			r := s.send(route.method, route.path, route.body, asking(token)...)
			want := slices.Contains(route.may, who)
			if want != (r.status < 300) || !want && r.status != route.otherwise {
				t.Errorf("%s %s %s by the user %d: %d %s", route.method, route.path, route.body, who, r.status, r.text)
			}
			for _, request := range s.database.all()[before:] {
				isTheirs := request.header.Get("Authorization") == "Bearer "+token
				switch {
				case route.otherwise != http.StatusForbidden || slices.Contains(asUser, request.name):
					if !isTheirs {
						t.Errorf("%s: %s was not asked with the token of the user %d", route.path, request.name, who)
					}
				case !want:
					t.Errorf("%s by the user %d: %s was asked all the same", route.path, who, request.name)
				case isTheirs:
					t.Errorf("%s: %s was asked with the user's token", route.path, request.name)
				}
			}
		}
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
