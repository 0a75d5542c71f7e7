package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

type found struct {
	Results  []hit
	HasMore  bool `json:"has_more"`
	Fusion   string
	Cached   bool
	Executed []string
	Degraded []string
	ReadAs   *struct {
		Text    string
		Filters json.RawMessage
	} `json:"read_as"`
	Facets map[string][]struct {
		Value any
		Label string
		Count int
	}
	UnknownKeys []string `json:"unknown_keys"`
	Candidates  json.RawMessage
}

type hit struct {
	Similarity  *float64
	ProjectName string  `json:"project_name"`
	TicketKey   *string `json:"ticket_key"`
}

// name returns the ticket's key, or the project's name.
func (h hit) name() string {
	if h.TicketKey != nil {
		return *h.TicketKey
	}
	return h.ProjectName
}

func (f found) names() (names []string) {
	for _, h := range f.Results {
		names = append(names, h.name())
	}
	return names
}

func (s *service) search(query string, more ...map[string]any) found {
	s.t.Helper()
	body := map[string]any{"query": query}
	for _, m := range more {
		maps.Copy(body, m)
	}
	return read[found](s.post("/api/hybrid-search", body))
}

// tracker is a small tracker of two projects.
var (
	trackerProjects = []project{
		{Key: "TX", Name: "Checkout", Description: "From basket to receipt: cards, wallets and refunds."},
		{Key: "IAM", Name: "Identity", Description: "Accounts, passwords and roles."},
	}
	trackerTickets = []ticket{
		{Key: "IAM-97", Project: "IAM", Status: "Done", Name: "Fix authentication bug", Description: "Some people can't get into their account although the password they type is right."},
		{Key: "IAM-98", Project: "IAM", Status: "To Do", Name: "Names with apostrophes", Description: "O'Brien is refused at registration: Vec<T> & \"co\" <script>alert(1)</script> apostrophes."},
		{Key: "TX-400", Project: "TX", Status: "Done", Name: "Customer charged twice", Description: "The payment was retried and the card was charged twice.", Notes: []note{{"An idempotency key goes with every attempt now."}}},
		{Key: "TX-401", Project: "TX", Status: "To Do", Name: "Refund is one cent short", Description: "Duplicate of TX-400? The refund of a payment is rounded down."},
		{Key: "TX-402", Project: "TX", Status: "In Progress", Name: "返金メールの金額", Description: "返金のお知らせメールに記載されている金額が税抜きになっています。🥨"},
		{Key: "TX-403", Project: "TX", Status: "To Do", Name: "Payment page is slow", Description: "The payment page needs nine seconds on a phone."},
	}
)

func startTracker(t testing.TB, changes ...func(*setup)) *service {
	t.Helper()
	s := start(t, changes...)
	s.index(trackerProjects, trackerTickets)
	return s
}

// Searches for unusual texts do not fail. The operator's fusion is used where none is asked for.
func TestSearchUnusualQueries(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.fusion = "convex" })
	for _, query := range []string{
		"🥨", "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿", "返金メール", "…", "?!.,;:", "'", `"`, `"" -"" -`, "--", "- -", "\\", "%", "_", "*", "(a & b) | !c", "<->", ":*", "'; drop table x; --",
		"the of and", "\u202e\u200b.", "a\u0301", "line\nbreak\ttab", strings.Repeat("🥨", 2000), strings.Repeat("ab ", 666), strings.Repeat("x", 2000),
		" " + strings.Repeat("payment ", 250) + strings.Repeat(" ", 500), "-payment", `-"charged twice"`, "TX-99999999999999999999999999",
	} {
		got := s.search(query)
		if !slices.Equal(got.Executed, []string{"vector", "keyword"}) || got.Fusion != "convex" {
			t.Errorf("%.40q: executed %q, fused by %s", query, got.Executed, got.Fusion)
		}
		if query == "-payment" && slices.Contains(got.names(), "TX-400") {
			t.Errorf("-payment: found were %q", got.names())
		}
	}
	if got := s.search("返金メールの金額", map[string]any{"fusion": "rrf"}); !slices.Contains(got.names(), "TX-402") || got.Fusion != "rrf" {
		t.Errorf("found were %q", got.names())
	}
	empty := start(t)
	if got := empty.search("payment"); len(got.Results) != 0 || got.HasMore || got.Cached {
		t.Errorf("in an empty tracker %+v was found", got)
	}
}
