package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

type explained struct {
	found
	UnknownKeys []string        `json:"unknown_keys"`
	Candidates  json.RawMessage `json:"candidates"`
}

// A search without its explanation has its results, is not cached, and is logged.
func TestFailingExplanation(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	s.database.answer("explain_query", http.StatusServiceUnavailable, `{"code":"57P03","message":"`+upstreamText+`"}`)
	for query, results := range map[string]bool{`"payment TX-99999"`: true, `"zzzzzz","filters":{"assignee":"Nor"}`: false} {
		got := read[explained](s.send("POST", "/api/hybrid-search", `{"query":`+query+`}`))
		if (len(got.Results) > 0) != results || len(got.UnknownKeys)+len(got.Candidates) > 0 {
			t.Errorf("%s: %d results, %v, %v", query, len(got.Results), got.UnknownKeys, got.Candidates)
		}
	}
	if !strings.Contains(s.log.String(), upstreamText) {
		t.Error("the failure is not in the log")
	}
	s.database.intercept(nil)
	if got := read[explained](s.send("POST", "/api/hybrid-search", `{"query":"payment TX-99999"}`)); len(got.UnknownKeys) != 1 {
		t.Errorf("afterwards the unknown keys are %v", got.UnknownKeys)
	}
}

// Filters that nobody can meet are refused before a model is paid.
func TestWrongFiltersCostNothing(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	before := len(s.model.all())
	for path, member := range map[string]string{"/api/hybrid-search": "query", "/api/query": "question", "/api/tickets/similar": "text"} {
		for filters, name := range map[string]string{`{"sprint":"14"}`: "filters.sprint", `{"created":{"from":"soon"}}`: "filters.created.from", `{"open":1}`: "filters.open"} {
			r := s.send("POST", path, `{"`+member+`":"a payment","filters":`+filters+`}`)
			if p := r.want(http.StatusBadRequest).problem(); len(p.Errors) != 1 || p.Errors[0].Field != name {
				t.Errorf("%s with %s: %s", path, filters, r.text)
			}
		}
	}
	if asked := s.model.all()[before:]; len(asked) > 0 {
		t.Errorf("the model was asked for %d of them", len(asked))
	}
}

// What was typed is logged as it was typed, also where another query is read the same.
func TestTypedQueriesAreLogged(t *testing.T) {
	t.Parallel()
	s := startDetailed(t, logging)
	for _, query := range []string{"payment is:open", "is:open payment"} {
		s.send("POST", "/api/hybrid-search", `{"query":"`+query+`"}`, "X-Request-Id", strings.ReplaceAll(query, " ", "-"))
	}
	log := s.queryLog()
	for _, query := range []string{"payment is:open", "is:open payment"} {
		if got := log[strings.ReplaceAll(query, " ", "-")].Question; got != query {
			t.Errorf("%q is logged as %q", query, got)
		}
	}
}

// Names that nothing has are of the first page: an empty later one only ends the list.
func TestLaterPagesAreNotExplained(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	for offset, candidates := range map[string]string{"0": `[{"member":"assignee","value":"noo","names":["Noor"]}]`, "10": ""} {
		got := read[explained](s.send("POST", "/api/hybrid-search", `{"query":"","filters":{"assignee":"noo"},"offset":`+offset+`}`))
		if string(got.Candidates) != candidates || len(got.Results) > 0 {
			t.Errorf("at %s: %s, want %s", offset, got.Candidates, candidates)
		}
	}
}
