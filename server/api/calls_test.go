package api_test

import (
	"strings"
	"testing"
)

// A request makes no more calls of the database than its row says.
func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	calls := func() (made []string) {
		for _, request := range s.database.all() {
			made = append(made, request.name)
		}
		return made
	}
	for _, c := range []struct {
		path, body string
		most       int
	}{
		{"/api/hybrid-search", `{"query":"payment charged"}`, 2},
		{"/api/hybrid-search", `{"query":"payment charged"}`, 1}, // from the cache
		{"/api/hybrid-search", `{"query":"payment charged","facets":true}`, 3},
		{"/api/hybrid-search", `{"query":"charged","retrieval":"keyword"}`, 2},
		{"/api/hybrid-search", `{"query":"is:open"}`, 2},
		{"/api/hybrid-search", `{"query":"","filters":{"assignee":"Noor"}}`, 2},
		{"/api/hybrid-search", `{"query":"charged in Checkout status: Done assignee:Noor created:>2020 -label:web"}`, 2},
		{"/api/hybrid-search", `{"query":"paymnet label:paymets status:500 TX-99999 -refund","facets":true}`, 4}, // corrected and explained
		{"/api/hybrid-search", `{"query":"","filters":{"assignee":"Nor"}}`, 3},                                   // explained
		{"/api/query", `{"question":"Why was the customer charged twice?"}`, 2},
		{"/api/query", `{"question":"Why was the customer charged twice?"}`, 1},
		{"/api/query", `{"question":"Why was the customer charged twice?","corpus":"all"}`, 2},
		{"/api/query", `{"question":"How many tickets of Wictor are in Checkout?"}`, 4},
	} {
		before := len(calls())
		s.send("POST", c.path, c.body).want(200)
		if made := calls()[before:]; len(made) > c.most {
			t.Errorf("%s %s calls %s, at most %d", c.path, c.body, strings.Join(made, ", "), c.most)
		}
	}
}
