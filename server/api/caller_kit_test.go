package api_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"tasklens/internal/identity"
	"tasklens/scripts/lab/gateway"
)

const issuer = "https://example.supabase.co/auth/v1"

// authenticated is a service with AUTH=on that accepts HS256 tokens.
func authenticated(c *setup) {
	c.verifier = func(s *service, options identity.Options) *identity.Verifier {
		options.Issuers, options.Secret = []string{issuer}, s.secret
		return identity.New(options)
	}
}

// userID returns the id of the test's n-th user.
func userID(n int) string { return fmt.Sprintf("0b6a3c0e-5f0b-4a51-9d0f-%012d", n) }

// user returns an access token of the n-th user. claims are pairs that override the usual ones.
func (s *service) user(n int, more ...any) string {
	s.t.Helper()
	claims := map[string]any{"iss": issuer, "aud": "authenticated", "role": "authenticated", "sub": userID(n), "exp": time.Now().Add(time.Hour).Unix()}
	for i := 0; i < len(more); i += 2 {
		claims[more[i].(string)] = more[i+1]
	}
	token, err := gateway.Token(s.secret, claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// asking returns the Authorization header for a token.
func asking(token string) []string { return []string{"Authorization", "Bearer " + token} }

// tenant returns the number of the user whose token a database request carries, or 0 for the
// service key.
func tenant(t testing.TB, r *http.Request) (n int) {
	parts := strings.Split(r.Header.Get("Authorization"), ".")
	var claims struct{ Role, Sub string }
	if len(parts) == 3 {
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil || json.Unmarshal(text, &claims) != nil {
			t.Errorf("the database was asked with a token of %q", parts[1])
		}
	}
	if claims.Role == "authenticated" {
		if _, err := fmt.Sscanf(claims.Sub[len(claims.Sub)-12:], "%d", &n); err != nil {
			t.Errorf("the database was asked for %q", claims.Sub)
		}
	}
	return n
}

// reads are the functions that return data, each with its response for a tenant. Every text
// contains "tenant-N.".
var reads = map[string]func(n int) any{
	"data_version": func(int) any { return []any{map[string]any{"version": "the same for all"}} },
	"read_query": func(int) any {
		return []any{map[string]any{"version": "the same for all", "text": "x", "filters": map[string]any{}, "candidates": []any{}}}
	},
	"list_projects": func(n int) any {
		return []any{map[string]any{"project_id": n, "key": "T", "name": labelled(n), "tickets": 1}}
	},
	"list_statuses": func(n int) any { return []any{map[string]any{"status_id": n, "name": labelled(n)}} },
	"search_hybrid": func(n int) any { return []any{with(ticketOf(n), hitOf(n))} },
	"list_tickets":  func(n int) any { return []any{with(ticketOf(n), hitOf(n))} },
	"search_facets": func(n int) any { return []any{facetOf("project", n), facetOf("status", n)} },
	"get_ticket": func(n int) any {
		return []any{with(ticketOf(n), map[string]any{"project_key": "T", "status_category": "done", "description": labelled(n), "status_changes": []any{}, "comments": []any{},
			"fields": fieldsOfAll})}
	},
	"similar_tickets": func(n int) any { return []any{with(ticketOf(n), map[string]any{"similarity": 0.9, "status": "Done"})} },
	"find_similar_tickets": func(n int) any {
		similar := with(ticketOf(n), map[string]any{"similarity": 0.9, "status": "Done"})
		return []any{map[string]any{"project_name": labelled(n), "ticket_name": labelled(n), "text": labelled(n), "embedded": true, "results": []any{similar}}}
	},
	"retrieve_chunks":         func(n int) any { return []any{chunkOf(n)} },
	"search_documents":        func(n int) any { return []any{documentOf(n)} },
	"search_documents_hybrid": func(n int) any { return []any{documentOf(n)} },
	"find_similar_documents":  func(n int) any { return []any{documentOf(n)} },
	"get_document":            func(n int) any { return []any{documentOf(n)} },
	"rate_document":           func(int) any { return 0.5 }, // a vote affects only the caller
	"find_documents_by_entity": func(n int) any {
		return []any{with(documentOf(n), map[string]any{"matched_entity": labelled(n), "matched_type": "person"})}
	},
}

var fieldsOfAll = map[string]any{"status_category": "done", "labels": []string{}, "links": []any{}, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}

func labelled(n int) string { return fmt.Sprintf("tenant-%d. The payment was charged twice.", n) }

func with(row, more map[string]any) map[string]any {
	row = maps.Clone(row)
	maps.Copy(row, more)
	return row
}

func facetOf(facet string, n int) map[string]any {
	return map[string]any{"facet": facet, "value": n, "label": labelled(n), "count": 1, "capped": false}
}

func ticketOf(n int) map[string]any {
	return map[string]any{"ticket_id": n, "project_id": n, "project_name": labelled(n), "ticket_key": fmt.Sprintf("T-%d", n), "ticket_name": labelled(n), "text": labelled(n), "status": "Done"}
}

func hitOf(n int) map[string]any {
	return map[string]any{"similarity": 0.9, "source": "vector", "rrf_score": 0.016, "vector_rank": 1, "matched_by": []string{"vector"}, "vector_contribution": 0.016, "highlight": labelled(n),
		"status": "Done", "fields": fieldsOfAll}
}

func chunkOf(n int) map[string]any {
	return with(ticketOf(n), map[string]any{"kind": "ticket", "tokens": 10, "over_threshold": true, "similarity": 0.9, "relevance": 1, "similarities": []float64{1},
		"chunk_id": userID(n)})
}

func documentOf(n int) map[string]any {
	return map[string]any{"id": userID(n), "title": labelled(n), "content": labelled(n), "similarity": 0.9, "keyword_score": 0, "utility_boost": 0, "freshness_boost": 1,
		"temporal_weight": 1, "final_score": 0.5, "keywords": []string{}, "named_entities": []any{}, "embedding_status": "complete",
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "retrieval_queries": []string{}}
}

// houseTenants makes the database return to each user only their own data, by the request's token.
// roles are the roles that it reports; project N belongs to user N. Functions that return no data
// are passed on to the real database.
func (s *service) houseTenants(roles map[int]string) {
	s.database.intercept(func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
		n := tenant(s.t, r)
		var answer any
		switch read := reads[name]; {
		case name == "caller_role":
			answer = cmp.Or(roles[n], "none")
		case name == "may_write_project":
			var asked struct {
				Project int `json:"project_id"`
			}
			if err := json.Unmarshal(body, &asked); err != nil {
				s.t.Errorf("%s: %v", name, err)
			}
			answer = asked.Project == n && (roles[n] == "member" || roles[n] == "admin")
		case n > 0 && read != nil && isNextPage(body):
			answer = []any{}
		case n > 0 && read != nil:
			answer = read(n)
		default:
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
		return true
	})
}
