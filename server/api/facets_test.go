package api_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

type facet struct {
	Value int64
	Label string
	Count int
}

type counted struct {
	found
	Facets *struct{ Status, Project []facet }
	Capped bool `json:"facets_capped"`
}

func (s *service) count(query string, more map[string]any) counted {
	s.t.Helper()
	body := map[string]any{"query": query, "facets": true}
	maps.Copy(body, more)
	got := read[counted](s.post("/api/hybrid-search", body))
	if got.Facets == nil {
		s.t.Fatalf("%s: no facets", query)
	}
	return got
}

// The count of a facet value equals the number of results of a search with that filter, for any
// query and other filter.
func TestFacetsCountWhatFiltersFind(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	some := func(words string, most int) string {
		var out []string
		for range 1 + random.IntN(most) {
			list := strings.Fields(words)
			out = append(out, list[random.IntN(len(list))])
		}
		return strings.Join(out, " ")
	}
	const words = "payment refund login crash page slow button password email export timezone invoice"
	states := []string{"To Do", "Done", "In Progress", "Rare"}
	projects := []project{
		{Key: "TX", Name: "Checkout", Description: "Everything about payment and refund."}, {Key: "IAM", Name: "Identity"},
		{Key: "MOB", Name: "Login for phones", Description: "slow page"},
	}
	tickets := make([]ticket, 60)
	for i := range tickets {
		project := projects[min(random.IntN(5), 2)].Key
		tickets[i] = ticket{
			Key: fmt.Sprintf("%s-%d", project, i+1), Project: project, Status: states[min(random.IntN(9), 3)%4], Name: some(words, 3), Description: some(words, 6),
		}
	}
	s := start(t)
	s.index(projects, tickets[:40])
	s.load(projects, tickets[40:])
	queries := []string{
		"payment", "refund of a payment", "resolve login issue", "crash -page", "the invoice -\"slow button\"", `"payment refund" export`,
		`"never written phrase" export`, tickets[3].Key, tickets[50].Key + " password -slow", "-payment", "passwrod", "xyzzy", "of the",
	}
	sum := 0
	check := func(query string, threshold float64) {
		filters := map[string]any{"match_threshold": threshold}
		if random.IntN(2) == 0 {
			filters["project_id"] = s.ids[projects[random.IntN(3)].Key]
		}
		if random.IntN(2) == 0 {
			filters["status_filter"] = states[random.IntN(4)]
		}
		got := s.count(query, filters)
		narrowed := func(name string, value any, facets []facet, label string) {
			t.Helper()
			request := map[string]any{"limit": 100}
			for n, v := range filters {
				request[n] = v
			}
			request[name] = value
			count := 0
			for _, f := range facets {
				if f.Label == label {
					count = f.Count
				}
			}
			found := s.search(query, request)
			if len(found.Results) != count || found.HasMore {
				t.Errorf("%q with %v: the facet counts %d of %s, and a search finds %d: %q", query, filters, count, label, len(found.Results), found.names())
			}
			sum += count
		}
		for _, state := range states {
			narrowed("status_filter", state, got.Facets.Status, state)
		}
		for _, p := range projects {
			narrowed("project_id", s.ids[p.Key], got.Facets.Project, p.Name)
		}
		for _, facets := range [][]facet{got.Facets.Status, got.Facets.Project} {
			for i := 1; i < len(facets); i++ {
				if facets[i].Count > facets[i-1].Count || facets[i].Count == facets[i-1].Count && facets[i].Label < facets[i-1].Label {
					t.Errorf("%q: out of order: %v", query, facets)
				}
			}
		}
		if got.Capped {
			t.Errorf("%q: capped at %v", query, got.Facets)
		}
	}
	for _, query := range queries {
		check(query, 0.35)
		check(query, 0.99)
	}
	s.model.answer("embeddings", 500, upstreamText)
	for _, query := range queries[:9] {
		check(query, 0.35)
	}
	if sum < 500 {
		t.Errorf("only %d matches were counted: the test wants more", sum)
	}
}

func TestFacetsFail(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.database.answer("search_facets", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
	s.post("/api/hybrid-search", map[string]any{"query": "payment"}).want(http.StatusOK)
	s.database.answer("search_hybrid", 500, `{"code":"57014","message":"`+upstreamText+`"}`)
	s.post("/api/hybrid-search", map[string]any{"query": "payment", "facets": true}).want(http.StatusGatewayTimeout)
}
