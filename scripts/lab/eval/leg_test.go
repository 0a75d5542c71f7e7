package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"tasklens/scripts/lab/collection"
	"tasklens/scripts/lab/measure"
)

// result is a result of the stand-in; rank 0 means none.
type result struct {
	key             string
	vector, keyword int
}

// standIn answers searches from a list, in pages, and records the requests.
type standIn struct {
	list  []result
	extra string // further fields of every response

	mutex sync.Mutex
	asked []string
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Query     string
		Limit     int
		Offset    int
		Threshold *float64 `json:"match_threshold"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil || r.URL.Path != "/api/hybrid-search" || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "wrong request", http.StatusBadRequest)
		return
	}
	threshold := "own"
	if request.Threshold != nil {
		threshold = fmt.Sprint(*request.Threshold)
	}
	s.mutex.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s %d+%d", threshold, request.Offset, request.Limit))
	s.mutex.Unlock()
	end := min(len(s.list), request.Offset+request.Limit)
	var results []string
	for _, r := range s.list[min(request.Offset, end):end] {
		fields := []string{`"project_id":7`, fmt.Sprintf(`"ticket_key":%q`, r.key)}
		if r.key == "" {
			fields[1] = `"ticket_key":null`
		}
		if r.vector > 0 {
			fields = append(fields, fmt.Sprintf(`"vector_rank":%d`, r.vector))
		}
		if r.keyword > 0 {
			fields = append(fields, fmt.Sprintf(`"keyword_rank":%d`, r.keyword))
		}
		results = append(results, "{"+strings.Join(fields, ",")+"}")
	}
	fmt.Fprintf(w, `{"results":[%s],"has_more":%t%s}`, strings.Join(results, ","), end < len(s.list), s.extra)
}

func serve(t *testing.T, s *standIn) Service {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return Service{URL: server.URL}
}

func TestRankingsOfOneQuery(t *testing.T) {
	t.Parallel()
	s := &standIn{list: []result{{"A", 2, 1}, {"", 1, 3}, {"B", 0, 2}, {"C", 3, 0}}}
	service := serve(t, s)
	keyword, err := service.keyword(t.Context(), collection.Query{Text: "q"})
	if err != nil || !slices.Equal(keyword, []string{"A", "B", "project 7"}) {
		t.Errorf("keyword %q, %v", keyword, err)
	}
	listed, err := service.listed(t.Context(), collection.Query{Text: "q"})
	if err != nil || !slices.Equal(listed, []string{"A", "project 7", "B", "C"}) {
		t.Errorf("listed %q, %v", listed, err)
	}
	vector, err := service.vector(t.Context(), collection.Query{Text: "q"})
	if err != nil || !slices.Equal(vector, []string{"project 7", "A", "C"}) {
		t.Errorf("vector %q, %v", vector, err)
	}
	if want := []string{"1 0+100", "own 0+100", "0 0+100"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
}

// The items found only by vector are on the third page: paging goes that far, and no further.
func TestPagesAreReadUntilTheRankingIsThere(t *testing.T) {
	t.Parallel()
	s := &standIn{}
	for i := range 150 {
		s.list = append(s.list, result{fmt.Sprint("K-", i+1), 0, i + 1})
	}
	for i := range 250 {
		s.list = append(s.list, result{fmt.Sprint("V-", i+1), i + 1, 0})
	}
	vector, err := serve(t, s).vector(t.Context(), collection.Query{Text: "q"})
	if err != nil || len(vector) != depth || vector[0] != "V-1" || vector[99] != "V-100" {
		t.Errorf("%d by vector, %v", len(vector), err)
	}
	if want := []string{"0 0+100", "0 100+100", "0 200+100"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
}

func TestPagesEndAtTheServicesReach(t *testing.T) {
	t.Parallel()
	s := &standIn{}
	for i := range 1200 {
		s.list = append(s.list, result{fmt.Sprint("K-", i+1), 0, i + 1})
	}
	if vector, err := serve(t, s).vector(t.Context(), collection.Query{Text: "q"}); err != nil || len(vector) != 0 || len(s.asked) != 10 {
		t.Errorf("%d by vector, asked %q, %v", len(vector), s.asked, err)
	}
}

// A draft is compared by its text, a stored ticket by its id. Both count what is flagged.
func TestADraftAndATicketAreComparedWithTickets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method + " " + r.URL.String() + " " + string(body) {
		case `POST /api/tickets/similar {"limit":100,"text":"q"}`, "GET /api/tickets/9/similar?limit=100 ":
			fmt.Fprint(w, `{"results":[{"ticket_key":"B","likely_duplicate":true},{"ticket_key":"A","likely_duplicate":true},{"ticket_key":"C"}]}`)
		default:
			http.Error(w, "wrong request", http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]*comparison{
		"a draft":  {service: Service{URL: server.URL}},
		"a ticket": {service: Service{URL: server.URL}, tickets: map[string]int64{"K": 9}},
	} {
		keys, err := c.rank(t.Context(), collection.Query{ID: "K", Text: "q", Judged: measure.Judged{"B": 1, "C": 1}})
		if want := (Flags{All: 2, Right: 1}); err != nil || !slices.Equal(keys, []string{"B", "A", "C"}) || c.flags != want {
			t.Errorf("%s: %q, %+v, %v", name, keys, c.flags, err)
		}
		if _, err := c.rank(t.Context(), collection.Query{ID: "other", Text: "other"}); err == nil || !strings.Contains(err.Error(), "400") {
			t.Errorf("%s, refused: %v", name, err)
		}
	}
}

// A degraded search must not be measured as a complete one.
func TestADegradedOrFailedSearchIsAnError(t *testing.T) {
	t.Parallel()
	degraded := serve(t, &standIn{extra: `,"degraded":["vector"]`})
	if _, err := degraded.listed(t.Context(), collection.Query{Text: "q"}); err == nil || !strings.Contains(err.Error(), "vector") {
		t.Errorf("degraded: %v", err)
	}
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	if _, err := (Service{URL: broken.URL}).listed(t.Context(), collection.Query{Text: "q"}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("not found: %v", err)
	}
}
