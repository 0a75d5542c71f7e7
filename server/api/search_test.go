package api_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/search"
)

type found struct {
	Results  []hit
	HasMore  bool `json:"has_more"`
	Cached   bool
	Executed []string
	Degraded []string
}

type hit struct {
	TicketID    *int64 `json:"ticket_id"`
	Text        string
	Similarity  *float64
	Source      string
	RRFScore    float64 `json:"rrf_score"`
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

// name is the ticket's key, or the project's name.
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
		for name, value := range m {
			body[name] = value
		}
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

func startTracker(t *testing.T, changes ...func(*setup)) *service {
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
	if first.Source != "vector" || first.Similarity == nil || *first.Similarity <= 0.7 || !slices.Equal(first.MatchedBy, []string{"vector"}) ||
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
			if other.Exact || other.name() == "TX-400" {
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
		"empty status":          {map[string]any{"status_filter": ""}, nil},
		"none, as null":         {map[string]any{"project_id": nil, "status_filter": nil}, []string{"TX-400", "TX-401", "TX-403"}},
	} {
		// The threshold leaves the words to decide.
		c.filter["match_threshold"] = 0.99
		got := s.search("payment", c.filter)
		names := got.names()
		slices.Sort(names)
		if !slices.Equal(names, c.want) || got.HasMore {
			t.Errorf("%s: found were %q, not %q", name, names, c.want)
		}
	}
	// The filters hold for the search by meaning as well.
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

func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	tickets := make([]ticket, 25)
	for i := range tickets {
		tickets[i] = ticket{Key: fmt.Sprintf("TX-%d", i+1), Project: "TX", Name: fmt.Sprintf("Payment problem %d", i%7), Description: strings.Repeat("payment ", i%3)}
	}
	s.index(checkout, tickets[:15])
	s.load(checkout, tickets[15:]) // and some that are not embedded yet
	whole := s.search("payment", map[string]any{"limit": 100})
	if len(whole.Results) < 25 || whole.HasMore {
		t.Fatalf("found were %d, has_more %t", len(whole.Results), whole.HasMore)
	}
	seen := map[string]bool{}
	for _, name := range whole.names() {
		if seen[name] {
			t.Errorf("%s was found twice", name)
		}
		seen[name] = true
	}
	for _, size := range []int{1, 4, 7, len(whole.Results)} {
		var together []string
		for offset, more := 0, true; more; offset += size {
			page := s.search("payment", map[string]any{"limit": size, "offset": offset})
			together, more = append(together, page.names()...), page.HasMore
			if more && len(page.Results) != size {
				t.Errorf("a page of %d at %d has %d results", size, offset, len(page.Results))
			}
			if offset > len(whole.Results) {
				t.Fatalf("pages of %d never end", size)
			}
		}
		if !slices.Equal(together, whole.names()) {
			t.Errorf("pages of %d are %q together, not %q", size, together, whole.names())
		}
	}
	if page := s.search("payment"); len(page.Results) != 10 || !page.HasMore {
		t.Errorf("the page without a limit has %d results, has_more %t", len(page.Results), page.HasMore)
	}
	if page := s.search("payment", map[string]any{"limit": 1, "offset": 999}); len(page.Results) != 0 || page.HasMore {
		t.Errorf("the page behind the end is %+v", page)
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

func TestSearchExplained(t *testing.T) {
	t.Parallel()
	weights := search.Weights{Vector: 0.5, Keyword: 2}
	s := startTracker(t, func(c *setup) { c.weights = weights })
	got := s.search("payment page charged twice TX-401", map[string]any{"explain": true, "match_threshold": 0.6})
	kinds := map[string]int{}
	last := math.Inf(1)
	for _, h := range got.Results {
		sum := 0.0
		var by []string
		if h.Explain == nil {
			t.Fatalf("%s is not explained", h.name())
		}
		if v := h.Explain.Vector; v != nil {
			by = append(by, "vector")
			sum += v.Contribution
			if v.Weight != weights.Vector || v.Rank != *h.VectorRank || v.Similarity != *h.Similarity ||
				math.Abs(v.Contribution-weights.Vector/float64(60+v.Rank)) > 1e-12 {
				t.Errorf("%s: vector is %+v", h.name(), *v)
			}
		}
		if k := h.Explain.Keyword; k != nil {
			by = append(by, "keyword")
			sum += k.Contribution
			if k.Weight != weights.Keyword || k.Rank != *h.KeywordRank || math.Abs(k.Contribution-weights.Keyword/float64(60+k.Rank)) > 1e-12 {
				t.Errorf("%s: keyword is %+v", h.name(), *k)
			}
		}
		if math.Abs(sum-h.RRFScore) > 1e-12 || !slices.Equal(by, h.MatchedBy) {
			t.Errorf("%s: contributions are %v of %v by %q, matched by %q", h.name(), sum, h.RRFScore, by, h.MatchedBy)
		}
		if (h.Similarity == nil) != (h.Explain.Vector == nil) || (h.Source == "vector") != (h.Explain.Vector != nil) {
			t.Errorf("%s: source is %s, similarity %v, explanation %+v", h.name(), h.Source, h.Similarity, h.Explain)
		}
		if !h.Exact {
			if h.RRFScore > last {
				t.Errorf("%s has the score %v after %v", h.name(), h.RRFScore, last)
			}
			last = h.RRFScore
		}
		kinds[strings.Join(by, "+")]++
	}
	if kinds["vector"] == 0 || kinds["vector+keyword"] == 0 {
		t.Errorf("results were found by %v: the test wants more kinds", kinds)
	}
	if got := s.search("payment"); got.Results[0].Explain != nil {
		t.Error("explained without being asked")
	}
}

// What only the words found has no similarity.
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

// Texts of any kind are searched for without failing.
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

// A model that fails in whatever way leaves the search by words, and says so.
func TestSearchDegraded(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.attemptTimeout = 200 * time.Millisecond })
	for name, fail := range map[string]func(){
		"500": func() { s.model.answer("embeddings", 500, upstreamText) },
		"429": func() {
			s.model.answer("embeddings", 429, `{"error":{"message":"`+upstreamText+`"}}`, "Retry-After", "60")
		},
		"no JSON":   func() { s.model.answer("embeddings", 200, "{") },
		"no vector": func() { s.model.answer("embeddings", 200, `{"data":[]}`) },
		"too long": func() {
			s.model.answer("embeddings", 200, `{"data":[{"index":0,"embedding":[1`+strings.Repeat(",1", 1536)+`]}]}`)
		},
		"hangs": func() { s.model.hang("embeddings") },
	} {
		fail()
		got := s.search("payment TX-400")
		if !slices.Equal(got.Executed, []string{"keyword"}) || !slices.Equal(got.Degraded, []string{"vector"}) {
			t.Errorf("%s: executed %q, degraded %q", name, got.Executed, got.Degraded)
		}
		if len(got.Results) < 3 || got.Results[0].name() != "TX-400" {
			t.Errorf("%s: found were %q", name, got.names())
		}
		for _, h := range got.Results {
			if h.Source != "keyword" || h.Similarity != nil {
				t.Errorf("%s: found was %+v", name, h)
			}
		}
	}
}

// A model that hangs does not use up the time of the whole request.
func TestSearchDegradedInTime(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.requestTimeout = 4 * time.Second })
	s.model.hang("embeddings")
	if got := s.search("payment"); !slices.Equal(got.Degraded, []string{"vector"}) {
		t.Errorf("degraded is %q", got.Degraded)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/api/projects", "/api/statuses"} {
		if text := s.get(path).want(http.StatusOK).text; text != `{"results":[]}` {
			t.Errorf("%s of an empty tracker: %s", path, text)
		}
	}
	s.load(trackerProjects, trackerTickets)
	type list struct {
		Results []struct {
			Key     string
			Name    string
			Tickets int
		}
	}
	projects := read[list](s.get("/api/projects")).Results
	if len(projects) != 2 || projects[0].Key != "IAM" || projects[0].Tickets != 2 || projects[1].Name != "Checkout" || projects[1].Tickets != 4 {
		t.Errorf("projects are %+v", projects)
	}
	var names []string
	for _, status := range read[list](s.get("/api/statuses")).Results {
		names = append(names, status.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"Done", "In Progress", "To Do"}) {
		t.Errorf("statuses are %q", names)
	}
}
