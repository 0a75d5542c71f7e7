package api_test

import (
	"strings"
	"testing"
)

// How the database read a query is in the response: the filters and text, names that are like one
// that nothing has, keys that no ticket has, and what is left out or of no use.
func TestHowQueriesAreRead(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	for body, want := range map[string]string{
		`{"query":"payment status: To Do in Checkout"}`:              `"read_as":{"text":"payment","filters":{"projects":["TX"],"statuses":["To Do"]}}`,
		`{"query":"payment assignee:wiktro"}`:                        `"read_as":{"text":"payment","filters":{"assignee":["Wiktor"]}}`,
		`{"query":"payment status:500"}`:                             `"candidates":[{"member":"statuses","value":"500","names":[]}]`,
		`{"query":"payment label:paymets"}`:                          `"candidates":[{"member":"labels","value":"paymets","names":["payments"]}]`,
		`{"query":"","filters":{"assignee":["noo"]}}`:                `"candidates":[{"member":"assignee","value":"noo","names":["Noor"]}]`,
		`{"query":"TX-400 and TX-99998"}`:                            `"unknown_keys":["TX-99998"]`,
		`{"query":"payment is:open -refund","retrieval":"keyword"}`:  `"read_as":{"text":"payment -refund","filters":{"open":true},"excluded":["refund"]}`,
		`{"query":"🦄 payment whom ourselves","retrieval":"keyword"}`: `"ignored":["🦄"]`,
	} {
		if text := s.send("POST", "/api/hybrid-search", body).want(200).text; !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
	for _, query := range []string{"git push -f -payment", "TX-400", "utf-8"} {
		text := s.post("/api/hybrid-search", map[string]any{"query": query}).want(200).text
		for _, nothing := range []string{`"read_as"`, `"candidates"`, `"unknown_keys"`, `"ignored"`} {
			if strings.Contains(text, nothing) {
				t.Errorf("%s: %s in %s", query, nothing, text)
			}
		}
	}
}
