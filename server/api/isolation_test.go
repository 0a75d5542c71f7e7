package api_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"tasklens/internal/memo"
)

// call is a request.
type call struct{ method, path, body string }

// ofTracker are the requests that return ticket data, with the same text for every caller.
var ofTracker = []call{
	{http.MethodPost, "/api/hybrid-search", `{"query":"payment charged twice"}`},
	{http.MethodPost, "/api/hybrid-search", `{"query":"payment charged twice","facets":true,"explain":true}`},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice"}`},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","stream":true}`},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","corpus":"all"}`},
	{http.MethodPost, "/api/tickets/similar", `{"text":"payment charged twice"}`},
	{http.MethodGet, "/api/tickets/{ticket}/similar", ""},
	{http.MethodGet, "/api/projects", ""},
	{http.MethodPost, "/mcp", message("search_tickets", map[string]any{"query": "payment charged twice"})},
	{http.MethodPost, "/mcp", message("ask", map[string]any{"question": "why was the payment charged twice"})},
	{http.MethodGet, "/api/tickets/{ticket}", ""},
	{http.MethodPost, "/api/hybrid-search", `{"query":"payment -type:chore","filters":{"assignee":"me"},"facets":true}`},
	{http.MethodPost, "/api/hybrid-search", `{"query":"assignee:me"}`},
	{http.MethodPost, "/api/query", `{"question":"why was the payment charged twice","filters":{"assignee":"me"}}`},
}

var ofTenant = regexp.MustCompile(`tenant-\d+\.`)

// users is the number of concurrent users.
const users = 64

// crowd sends requests of all users concurrently and looks for data of others: every text that the
// n-th may see contains "tenant-n.", and ticket returns the id of one.
func (s *service) crowd(each int, requests []call, ticket func(n int) int64) {
	var running sync.WaitGroup
	for n := 1; n <= users; n++ {
		for hand := range 2 { // two pages of one user, each with its own token
			token := s.user(n, "jti", fmt.Sprint(hand))
			dice := rand.New(rand.NewPCG(uint64(n), uint64(hand)))
			running.Go(func() {
				for range each / 2 {
					r := requests[dice.IntN(len(requests))]
					r.path = strings.Replace(r.path, "{ticket}", fmt.Sprint(ticket(n)), 1)
					if !s.onlyTheirs(r, token, n) {
						return
					}
				}
			})
		}
	}
	running.Wait()
	hits, made := 0, 0
	for _, kind := range []string{"query", "hybrid-search"} {
		hits += s.cached.of(kind, memo.Hit)
		made += s.cached.of(kind, memo.Stored) + s.cached.of(kind, memo.Passed)
	}
	if hits == 0 || made < users {
		s.t.Errorf("it shows nothing: %d hits, %d computed", hits, made)
	}
}

// onlyTheirs makes a request and reports whether the response contains data of the n-th user only.
func (s *service) onlyTheirs(r call, token string, n int) bool {
	text := s.plain(r.method, r.path, r.body, token)
	found := ofTenant.FindAllString(text, -1)
	if len(found) == 0 && text != "" {
		s.t.Errorf("%s %s by the user %d: nothing of theirs in %s", r.method, r.path, n, text)
	}
	for _, tenant := range found {
		if tenant != fmt.Sprintf("tenant-%d.", n) {
			s.t.Errorf("%s %s %s by the user %d tells of %s", r.method, r.path, r.body, n, tenant)
			return false
		}
	}
	return true
}

// plain makes a request and returns the body, which is empty if the crowd is too much for the
// processors. Unlike send it skips the checks of the format, which would take most of the time.
func (s *service) plain(method, path, body, token string) string {
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := s.client.Do(request)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode == http.StatusGatewayTimeout {
		return ""
	}
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Errorf("%s %s: %d %s (%v)", path, body, response.StatusCode, text, err)
	}
	return string(text)
}
