package api_test

import (
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
	Relaxed  []string
}

type hit struct {
	TicketID    *int64 `json:"ticket_id"`
	Text        string
	Similarity  *float64
	Source      string
	RRFScore    float64 `json:"rrf_score"`
	FusedScore  float64 `json:"fused_score"`
	ProjectID   int64   `json:"project_id"`
	ProjectName string  `json:"project_name"`
	TicketKey   *string `json:"ticket_key"`
	TicketName  *string `json:"ticket_name"`
	Status      *string
	VectorRank  *int64   `json:"vector_rank"`
	KeywordRank *int64   `json:"keyword_rank"`
	MatchedBy   []string `json:"matched_by"`
	Exact       bool
	Highlight   string
	Explain     *struct {
		Vector *struct {
			Rank                             int64
			Similarity, Weight, Contribution float64
		}
		Keyword *struct {
			Rank                        int64
			Score, Weight, Contribution float64
		}
	}
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

func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	results := s.search("resolve login issue").Results
	if len(results) == 0 || results[0].name() != "IAM-97" {
		t.Fatalf("found were %+v", results)
	}
	first := results[0]
	if first.Source != "vector" || first.Similarity == nil || *first.Similarity <= between || !slices.Equal(first.MatchedBy, []string{"vector"}) ||
		first.KeywordRank != nil || first.VectorRank == nil || *first.VectorRank != 1 {
		t.Errorf("first is %+v", first)
	}
	if *first.TicketID != s.ids["IAM-97"] || first.ProjectID != s.ids["IAM"] || first.ProjectName != "Identity" ||
		*first.TicketName != "Fix authentication bug" || *first.Status != "Done" || !strings.HasPrefix(first.Text, "Fix authentication bug\n\n") {
		t.Errorf("first is %+v", first)
	}
}

func TestSearchByKey(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for _, query := range []string{"TX-400", "tx-400", "tx 400", "what about TX-400?", "payment page slow TX-400"} {
		results := s.search(query).Results
		if len(results) == 0 || results[0].name() != "TX-400" || !results[0].Exact {
			t.Errorf("%s: found were %+v", query, results)
			continue
		}
		for _, other := range results[1:] {
			if mentions := strings.Contains(other.Text, "TX-400") && query != "tx 400"; other.Exact != mentions || other.name() == "TX-400" {
				t.Errorf("%s: also found was %+v", query, other)
			}
		}
	}
	if results := s.search("TX-40").Results; len(results) > 0 && results[0].Exact {
		t.Errorf("TX-40 is no ticket, found was %+v", results[0])
	}
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for name, c := range map[string]struct {
		filter map[string]any
		want   []string // in any order
	}{
		"project":               {map[string]any{"project_id": s.ids["TX"]}, []string{"TX-400", "TX-401", "TX-403"}},
		"status":                {map[string]any{"status_filter": "To Do"}, []string{"TX-401", "TX-403"}},
		"status, in other case": {map[string]any{"status_filter": "tO dO"}, []string{"TX-401", "TX-403"}},
		"both":                  {map[string]any{"project_id": s.ids["TX"], "status_filter": "Done"}, []string{"TX-400"}},
		"both, nothing":         {map[string]any{"project_id": s.ids["IAM"], "status_filter": "In Progress"}, nil},
		"unknown project":       {map[string]any{"project_id": 999}, nil},
		"unknown status":        {map[string]any{"status_filter": "No such status"}, nil},
		"empty status":          {map[string]any{"status_filter": ""}, []string{"TX-400", "TX-401", "TX-403"}},
		"none, as null":         {map[string]any{"project_id": nil, "status_filter": nil}, []string{"TX-400", "TX-401", "TX-403"}},
	} {
		// With this threshold only keywords decide.
		c.filter["match_threshold"] = 0.99
		got := s.search("payment", c.filter)
		names := got.names()
		slices.Sort(names)
		if !slices.Equal(names, c.want) || got.HasMore {
			t.Errorf("%s: found were %q, not %q", name, names, c.want)
		}
	}
	// The filters also apply to vector search.
	for _, result := range s.search("resolve login issue", map[string]any{"project_id": s.ids["TX"], "match_threshold": 0}).Results {
		if result.ProjectID != s.ids["TX"] {
			t.Errorf("found in another project: %+v", result)
		}
	}
	for _, result := range s.search("resolve login issue", map[string]any{"status_filter": "Done", "match_threshold": 0}).Results {
		if result.Status == nil || *result.Status != "Done" {
			t.Errorf("found in another status: %+v", result)
		}
	}
}

func TestSearchWithoutWords(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	plain := s.search("payment", map[string]any{"match_threshold": 0}).names()
	for _, name := range []string{"TX-400", "TX-401", "TX-403"} {
		if !slices.Contains(plain, name) {
			t.Errorf("payment: found were %q", plain)
		}
	}
	without := s.search("payment -refund", map[string]any{"match_threshold": 0}).names()
	for _, name := range []string{"TX-401", "Checkout"} { // "refunds", in the project's text, is the same word
		if slices.Contains(without, name) {
			t.Errorf("payment -refund: found were %q", without)
		}
	}
	if !slices.Contains(without, "TX-400") || !slices.Contains(without, "IAM-97") {
		t.Errorf("payment -refund: found were %q", without)
	}
	for _, name := range s.search(`"charged twice"`, map[string]any{"match_threshold": 0.99}).names() {
		if name != "TX-400" {
			t.Errorf("the phrase: found was %s", name)
		}
	}
}

// A result that only keyword search found has no similarity.
func TestSearchByWordAlone(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	got := s.search("payment", map[string]any{"match_threshold": 1, "explain": true})
	if len(got.Results) == 0 {
		t.Fatal("nothing was found")
	}
	for _, h := range got.Results {
		if h.Source != "keyword" || h.Similarity != nil || h.VectorRank != nil || h.KeywordRank == nil || !slices.Equal(h.MatchedBy, []string{"keyword"}) {
			t.Errorf("found was %+v", h)
		}
	}
	if !slices.Equal(got.Executed, []string{"vector", "keyword"}) || got.Degraded != nil {
		t.Errorf("executed %q, degraded %q", got.Executed, got.Degraded)
	}
	if raw := s.post("/api/hybrid-search", map[string]any{"query": "payment", "match_threshold": 1}).text; strings.Contains(raw, "similarity") {
		t.Errorf("similarity stands in %s", raw)
	}
}

func TestSearchPhrase(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	open := map[string]any{"match_threshold": 0, "limit": 100}
	if all := s.search("charged twice", open); len(all.Results) < 5 || all.Relaxed != nil {
		t.Fatalf("without quotes %d are found, relaxed %q", len(all.Results), all.Relaxed)
	}
	held := s.search(`"charged twice"`, open)
	if held.Relaxed != nil || len(held.Results) == 0 {
		t.Fatalf("%d results, relaxed %q", len(held.Results), held.Relaxed)
	}
	for _, h := range held.Results {
		if !strings.Contains(strings.ToLower(h.Text), "charged twice") || len(h.MatchedBy) != 2 {
			t.Errorf("found was %+v", h)
		}
	}
	relaxed := s.search(`"twice charged" payment`, open)
	if !slices.Equal(relaxed.Relaxed, []string{"phrase"}) || len(relaxed.Results) <= len(held.Results) {
		t.Errorf("%d results, relaxed %q", len(relaxed.Results), relaxed.Relaxed)
	}
}

// To the offline model nothing is similar to a text without words.
func TestSearchForPunctuation(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for _, query := range []string{"🔥", "🔥\u200b", "whom ourselves", "?!", "…"} {
		if got := s.search(query); len(got.Results) != 0 || !slices.Equal(got.Executed, []string{"vector", "keyword"}) {
			t.Errorf("%q: %q found, executed %q", query, got.names(), got.Executed)
		}
	}
}

func TestSearchHighlight(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	got := s.search("apostrophes script", map[string]any{"match_threshold": 0.99}).Results
	if len(got) == 0 || got[0].name() != "IAM-98" {
		t.Fatalf("found were %+v", got)
	}
	mark := got[0].Highlight
	if !strings.Contains(mark, "<mark>apostrophes</mark>") || !strings.Contains(mark, "&lt;") || !strings.Contains(mark, "&amp;") {
		t.Errorf("highlight is %s", mark)
	}
	plain := strings.NewReplacer("<mark>", "", "</mark>", "", "&lt;", "", "&gt;", "", "&amp;", "", "&quot;", "", "&#39;", "").Replace(mark)
	if strings.ContainsAny(plain, `<>&"'`) {
		t.Errorf("highlight is not escaped: %s", mark)
	}
}

func TestSearchProjects(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for _, threshold := range []float64{0, 0.99} {
		got := s.search("wallets", map[string]any{"match_threshold": threshold})
		i := slices.Index(got.names(), "Checkout")
		if i < 0 {
			t.Fatalf("found were %q", got.names())
		}
		if p := got.Results[i]; p.TicketID != nil || p.TicketKey != nil || p.TicketName != nil || p.Status != nil || p.ProjectID != s.ids["TX"] ||
			!strings.HasPrefix(p.Text, "Checkout\n\nFrom basket") {
			t.Errorf("the project's own result is %+v", p)
		}
	}
	if got := s.search("wallets", map[string]any{"status_filter": "Done", "match_threshold": 0}); slices.Contains(got.names(), "Checkout") {
		t.Error("a status filter leaves the project's own text in")
	}
}

// Searches for unusual texts do not fail.
func TestSearchUnusualQueries(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for _, query := range []string{
		"🥨", "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿", "返金メール", "…", "?!.,;:", "'", `"`, `"" -"" -`, "--", "- -", "\\", "%", "_", "*", "(a & b) | !c", "<->", ":*", "'; drop table x; --",
		"the of and", "\u202e\u200b.", "a\u0301", "line\nbreak\ttab", strings.Repeat("🥨", 2000), strings.Repeat("ab ", 666), strings.Repeat("x", 2000),
		" " + strings.Repeat("payment ", 250) + strings.Repeat(" ", 500), "-payment", `-"charged twice"`, "TX-99999999999999999999999999",
	} {
		got := s.search(query)
		if !slices.Equal(got.Executed, []string{"vector", "keyword"}) {
			t.Errorf("%.40q: executed %q", query, got.Executed)
		}
		if query == "-payment" && slices.Contains(got.names(), "TX-400") {
			t.Errorf("-payment: found were %q", got.names())
		}
	}
	if got := s.search("返金メールの金額"); !slices.Contains(got.names(), "TX-402") {
		t.Errorf("found were %q", got.names())
	}
	empty := start(t)
	if got := empty.search("payment"); len(got.Results) != 0 || got.HasMore || got.Cached {
		t.Errorf("in an empty tracker %+v was found", got)
	}
}
