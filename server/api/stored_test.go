package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type explained struct {
	narrowed
	UnknownKeys []string        `json:"unknown_keys"`
	Candidates  json.RawMessage `json:"candidates"`
}

// Names in filters are read against what is stored, and keys that no ticket has are said.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	ask := func(query string, headers ...string) explained {
		t.Helper()
		body, _ := json.Marshal(map[string]any{"query": query, "match_threshold": 1})
		return read[explained](s.send(http.MethodPost, "/api/hybrid-search", string(body), headers...))
	}
	for _, c := range []struct{ query, names, text, filters string }{
		{"payment status: To Do", "TX-401 TX-403", "payment", `{"statuses":["To Do"]}`},
		{"payment in Checkout", "TX-400 TX-401 TX-403", "payment", `{"projects":["TX"]}`},
		{"in the Identity project", "IAM-97 IAM-98", "", `{"projects":["IAM"]}`},
		{"status:open project:Identity", "IAM-98", "", `{"projects":["IAM"],"open":true}`},
		{"assignee:wiktro", "TX-402", "", `{"assignee":["Wiktor"]}`},
		{"-label:paymets type:story", "", "", `{"types":["story"],"not":{"labels":{"any":["paymets"]}}}`},
	} {
		got := ask(c.query)
		names := slices.DeleteFunc(got.names(), func(name string) bool { return !strings.Contains(name, "-") })
		slices.Sort(names)
		if c.names == "" {
			names = nil // only how it was read
		}
		if got.ReadAs == nil || strings.Join(names, " ") != c.names || got.ReadAs.Text != c.text || string(got.ReadAs.Filters) != c.filters {
			t.Errorf("%q: %q, read as %+v, %s; want %s, %q and %s", c.query, names, got.ReadAs, got.Candidates, c.names, c.text, c.filters)
		}
	}
	// Beside words, a filter whose value nothing has is text; a value that resembles one is that.
	for query, want := range map[string][3]string{
		"payment status:500":    {"payment status:500", `{}`, `[{"member":"statuses","value":"500","names":[]}]`},
		"payment label:paymets": {"payment", `{"labels":{"any":["payments"]}}`, `[{"member":"labels","value":"paymets","names":["payments"]}]`},
		"status:500":            {"", `{"statuses":["500"]}`, `[{"member":"statuses","value":"500","names":[]}]`},
		"status:Done type:bug":  {"", `{"statuses":["Done"],"types":["bug"]}`, ""},
	} {
		got := ask(query)
		if got.ReadAs == nil || got.ReadAs.Text != want[0] || string(got.ReadAs.Filters) != want[1] || string(got.Candidates) != want[2] || strings.HasPrefix(query, "payment") && len(got.Results) == 0 {
			t.Errorf("%q: %d results, read as %+v, %s; want %q", query, len(got.Results), got.ReadAs, got.Candidates, want)
		}
	}
	got := read[explained](s.send(http.MethodPost, "/api/hybrid-search", `{"query":"","filters":{"assignee":["noo"],"labels":{"all":["pay"]}}}`))
	if want := `[{"member":"assignee","value":"noo","names":["Noor"]},{"member":"labels","value":"pay","names":["payments"]}]`; string(got.Candidates) != want || len(got.Results) > 0 {
		t.Errorf("filters of the body: %s, want %s", got.Candidates, want)
	}
	for query, want := range map[string][]string{"TX-99999": {"TX-99999"}, "TX-400 and TX-99998": {"TX-99998"}, "TX-99997 assignee:wiktro": {"TX-99997"}, "TX-400": nil, "utf-8": nil, "tx-400 type:bug": nil} {
		if got := ask(query); !slices.Equal(got.UnknownKeys, want) {
			t.Errorf("%q: unknown keys %q, want %q", query, got.UnknownKeys, want)
		}
	}
}

// What a query leaves out, and what of it no search can use, is said.
func TestWhatQueriesLeaveOut(t *testing.T) {
	t.Parallel()
	s := startDetailed(t)
	for query, want := range map[string]string{
		"payment -refund":              `"read_as":{"text":"payment -refund","filters":{},"excluded":["refund"]}`,
		"payment is:open -refund -pay": `"read_as":{"text":"payment -refund -pay","filters":{"open":true},"excluded":["refund","pay"]}`,
		"🦄 payment":                    `"ignored":["🦄"]`,
		"whom ourselves":               `"ignored":["ourselves","whom"]`,
		"git push -f -payment":         "",
	} {
		body, _ := json.Marshal(map[string]any{"query": query, "retrieval": "keyword"})
		text := s.send(http.MethodPost, "/api/hybrid-search", string(body)).text
		if !strings.Contains(text, want) || want == "" && (strings.Contains(text, "read_as") || strings.Contains(text, `"ignored"`)) {
			t.Errorf("%q: %s, want %s", query, text, want)
		}
	}
}

// What a user may not see is not named. Of each project the assignee is its member's id.
func TestHiddenNames(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated)
	s.houseMembers()
	for query, want := range map[string]string{
		"assignee:" + userID(2)[:35]: "", "in " + labelled(2): "", "project:" + labelled(2): "", "T2-99999": "", "project:" + labelled(1)[1:]: `["T1"]`, "T1-99999": `["T1-99999"]`,
	} {
		body, _ := json.Marshal(map[string]any{"query": query})
		text := s.send(http.MethodPost, "/api/hybrid-search", string(body), asking(s.user(1))...).text
		if strings.Contains(text, userID(2)) || strings.Contains(text, `"T2`) || !strings.Contains(text, want) || want == "" && strings.Contains(text, "unknown_keys") {
			t.Errorf("%q: %s", query, text)
		}
	}
}
