package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tasklens/internal/cache"
	"tasklens/internal/memo"
	"tasklens/internal/testbed"
)

// What Cache-Status says.
const (
	fromMemory    = "tasklens; hit"
	madeOnce      = "tasklens; fwd=miss"
	madeAndKept   = "tasklens; fwd=miss; stored"
	notRemembered = "tasklens; fwd=bypass"
)

// from checks where a response comes from.
func (r *response) from(status string) *response {
	r.t.Helper()
	r.want(http.StatusOK)
	if got := r.header.Get("Cache-Status"); got != status {
		r.t.Errorf("Cache-Status is %q, want %q", got, status)
	}
	if says, is := strings.Contains(r.text, `"cached":true`), status == fromMemory; says != is {
		r.t.Errorf("cached: %t beside %q", says, status)
	}
	return r
}

// traffic is how many requests the service has made, by name.
func (s *service) traffic() map[string]int {
	count := map[string]int{}
	for _, u := range []*upstream{s.database, s.model} {
		u.mutex.Lock()
		for _, request := range u.seen {
			count[request.name]++
		}
		u.mutex.Unlock()
	}
	return count
}

// costs checks what a step asks of the database and the model.
func (s *service) costs(want map[string]int, step func()) {
	s.t.Helper()
	before := s.traffic()
	step()
	for name, count := range s.traffic() {
		if made := count - before[name]; made != want[name] {
			s.t.Errorf("%s was asked %d times, want %d", name, made, want[name])
		}
	}
}

func plainly(text string) string {
	return strings.Replace(text, `"cached":true`, `"cached":false`, 1)
}

var oneVersion = map[string]int{"data_version": 1}

func TestAResponseComesAgain(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for path, body := range map[string]map[string]any{
		"/api/hybrid-search": {"query": "payment charged twice", "facets": true, "explain": true},
		"/api/query":         {"question": doubleCharge},
	} {
		first := s.post(path, body).from(madeAndKept)
		s.costs(oneVersion, func() {
			again := s.post(path, body).from(fromMemory)
			if plainly(again.text) != first.text {
				t.Errorf("%s: it was %s and is %s", path, first.text, again.text)
			}
			if id := again.header.Get("X-Request-Id"); id == "" || id == first.header.Get("X-Request-Id") {
				t.Errorf("%s: X-Request-Id is %q", path, id)
			}
		})
	}
	if counts := s.memo.Counts(); counts["query"] != (memo.Counts{Hits: 1, Misses: 1}) || counts["hybrid-search"] != counts["query"] {
		t.Errorf("counted were %+v", counts)
	}
}

// What is meant to be the same is asked the same: blanks around and between, and how a letter is composed.
func TestTheSameInOtherForm(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	first := s.search("café  payment")
	for _, query := range []string{"  café payment\n", "café\tpayment", "cafe\u0301 payment", "café\u00a0\u2003payment"} {
		if got := s.search(query); !got.Cached || !slices.Equal(got.names(), first.names()) {
			t.Errorf("%q: cached %t, found were %q", query, got.Cached, got.names())
		}
	}
	s.search("Café payment")
	for name, more := range map[string]map[string]any{
		"limit": {"limit": 3}, "offset": {"offset": 1}, "threshold": {"match_threshold": 0.1}, "facets": {"facets": true}, "explain": {"explain": true},
		"project": {"project_id": s.ids["TX"]}, "status": {"status_filter": "Done"},
	} {
		if s.search("café payment", more).Cached {
			t.Errorf("another %s is taken for the same", name)
		}
	}
	// What is the default anyway is the same.
	if !s.search("café payment", map[string]any{"limit": 10, "offset": 0, "match_threshold": 0.7, "facets": false, "explain": nil}).Cached {
		t.Error("defaults that are named are not the same")
	}
	if got := s.ask("Why  was it\nslow?"); got.Cached || !s.ask("Why was it slow?").Cached || s.ask("why was it slow?").Cached {
		t.Error("questions are not told apart as they should be")
	}
	for name, more := range map[string]map[string]any{
		"top_k": {"top_k": 2}, "lambda": {"mmr_lambda": 0.9}, "retrieval": {"retrieval": "hybrid"}, "threshold": {"match_threshold": 0.1},
		"project": {"project_id": s.ids["TX"]}, "status": {"status_filter": "Done"},
	} {
		if s.ask("Why was it slow?", more).Cached {
			t.Errorf("another %s is taken for the same", name)
		}
	}
}

// Events and the whole are the same answer, whichever was made first.
func TestAnAnswerComesAgainAsEvents(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	for i, question := range []string{doubleCharge, "Why is the payment page slow?"} {
		for round := range 2 {
			want := map[string]int{}
			if round == 1 {
				want = oneVersion
			} else if i == 0 {
				s.ask(question)
				want = oneVersion
			} else {
				want = map[string]int{"data_version": 1, "embeddings": 1, "retrieve_chunks": 1, "completions": 1}
			}
			s.costs(want, func() {
				opened := s.openStream(question, nil)
				status := opened.response.Header.Get("Cache-Status")
				first, _ := opened.next()
				before := decoded[answered](t, first)
				names, text, last := opened.rest()
				done := decoded[answered](t, last)
				if first.name != "sources" || !slices.Equal(names, []string{"delta", "done"}) || text != done.Answer || len(before.Sources) != len(done.Sources) ||
					before.Sources[0].Cited || !done.Sources[0].Cited || *before.BestSimilarity != *done.BestSimilarity {
					t.Errorf("%q: events are %s (%+v), %q, the text %q, the last %+v", question, first.name, before, names, text, last)
				}
				if cached := len(want) == 1; done.Cached != cached || cached != (status == fromMemory) || !cached && status != madeOnce {
					t.Errorf("%q: cached is %t, Cache-Status %q", question, done.Cached, status)
				}
			})
		}
		s.post("/api/query", map[string]any{"question": question}).from(fromMemory)
	}
}

// Every edit that could change a result makes what was kept unreachable; what cannot change it does not.
func TestEditsAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	tracker := s.connect()
	status := func(path string, body map[string]any) string {
		return s.post(path, body).want(http.StatusOK).header.Get("Cache-Status")
	}
	search := map[string]any{"query": "payment TX-400", "project_id": s.ids["TX"]}
	vector := map[string]any{"question": doubleCharge, "project_id": s.ids["TX"]}
	hybrid := map[string]any{"question": doubleCharge, "project_id": s.ids["TX"], "retrieval": "hybrid"}
	for i, step := range []struct {
		sql                    string
		search, vector, hybrid bool // moved
	}{
		{"update tickets set name = name, updated_at = now()", false, false, false},
		{"update status_changes set status_id = null", false, false, false},
		{"insert into status (name) values ('Later')", false, false, false},
		{"update tickets set name = 'Charged once more' where key = 'TX-400'", true, true, true},
		{"update tickets set status_id = (select status_id from status where name = 'To Do') where key = 'TX-400'", true, true, true},
		{"update status set name = 'Open' where name = 'To Do'", true, true, true},
		// Another project's words are rarer now, its vectors are nobody else's.
		{"update tickets set description = 'payment payment' where key = 'IAM-97'", true, false, true},
		{"insert into tickets (key, project_id, status_id, name) select 'TX-410', project_id, status_id, 'payment' from tickets where key = 'TX-400'", true, true, true},
		{"delete from tickets where key = 'TX-401'", true, true, true},
		{"insert into status_changes (ticket_id, note) select ticket_id, 'Paid back.' from tickets where key = 'TX-400'", true, true, true},
		{"update tickets set project_id = (select project_id from projects where key = 'IAM') where key = 'TX-403'", true, true, true},
		{"update projects set name = 'Till' where key = 'TX'", true, true, true},
		{"delete from chunks where ticket_id = (select ticket_id from tickets where key = 'TX-402')", true, true, true},
	} {
		for range 2 {
			status("/api/hybrid-search", search)
			status("/api/query", vector)
			status("/api/query", hybrid)
		}
		run(t, tracker, step.sql)
		for name, got := range map[string]struct {
			moved bool
			from  string
		}{
			"search": {step.search, status("/api/hybrid-search", search)},
			"vector": {step.vector, status("/api/query", vector)},
			"hybrid": {step.hybrid, status("/api/query", hybrid)},
		} {
			if (got.from == fromMemory) == got.moved {
				t.Errorf("step %d, %s: %s comes from %q", i, step.sql, name, got.from)
			}
		}
	}
	got := s.search("payment TX-400", map[string]any{"project_id": s.ids["TX"]})
	if first := got.Results[0]; !got.Cached || *first.TicketName != "Charged once more" || *first.Status != "Open" || first.ProjectName != "Till" {
		t.Errorf("found was %+v", first)
	}
	read[map[string]any](s.generate("TX", "TX-400"))
	if s.search("payment TX-400", map[string]any{"project_id": s.ids["TX"]}).Cached {
		t.Error("new embeddings changed nothing")
	}
	s.search("payment TX-400")
	read[map[string]any](s.generate("TX", "TX-400"))
	if !s.search("payment TX-400").Cached {
		t.Error("embeddings that stayed the same changed something")
	}
}

// What came about by a failure is made anew the next time.
func TestFailuresAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	s.model.answer("embeddings", http.StatusInternalServerError, upstreamText)
	for range 2 {
		s.post("/api/hybrid-search", map[string]any{"query": "payment"}).from(madeOnce)
		s.post("/api/query", map[string]any{"question": doubleCharge}).want(http.StatusBadGateway)
	}
	for _, ending := range []struct{ text, refusal, finish string }{{"", "", "stop"}, {"I will not.", "I will not.", "stop"}, {"The ca", "", "length"}, {"The ca", "", "content_filter"}} {
		s.says(ending.text, ending.refusal, ending.finish)
		for range 2 {
			s.post("/api/query", map[string]any{"question": doubleCharge}).from(madeOnce)
		}
	}
	s.says("The card was charged twice [1].", "", "stop")
	s.post("/api/query", map[string]any{"question": doubleCharge}).from(madeAndKept)
	s.post("/api/query", map[string]any{"question": doubleCharge}).from(fromMemory)
	s.post("/api/hybrid-search", map[string]any{"query": "payment"}).from(madeAndKept)
	s.database.answer("data_version", http.StatusInternalServerError, upstreamText)
	s.post("/api/hybrid-search", map[string]any{"query": "payment"}).from(madeOnce)
}

// Nobody is given what was made for another, and a token is looked at for every request.
func TestIdentities(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.maxStale = time.Minute })
	token := "Bearer " + s.token("service_role")
	body := map[string]any{"query": "payment"}
	s.post("/api/hybrid-search", body).from(madeAndKept)
	s.costs(nil, func() { s.post("/api/hybrid-search", body).from(fromMemory) })
	s.post("/api/hybrid-search", body, "Authorization", token).from(madeAndKept)
	s.costs(oneVersion, func() { s.post("/api/hybrid-search", body, "Authorization", token).from(fromMemory) })
	s.post("/api/hybrid-search", body, "Authorization", token[:len(token)-4]+"AAAA").want(http.StatusUnauthorized)
	s.post("/api/hybrid-search", body, "Authorization", "Bearer "+s.token("authenticated")).want(http.StatusForbidden)
}

func TestNothingIsRemembered(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful)
	for range 2 {
		s.post("/api/hybrid-search", map[string]any{"query": "payment"}).from(notRemembered)
		s.post("/api/query", map[string]any{"question": doubleCharge}).from(notRemembered)
		if got := s.openStream(doubleCharge, nil).response.Header.Get("Cache-Status"); got != notRemembered {
			t.Errorf("Cache-Status of a stream is %q", got)
		}
	}
}

// Many who ask the same at the same moment are answered by one answer, whole or as events.
func TestManyAskTheSame(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	arrived, let := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.model.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "completions" {
			once.Do(func() { close(arrived) })
			<-let
		}
		return false
	})
	var running sync.WaitGroup
	answers := make([]string, 12)
	for i := range answers {
		running.Go(func() {
			if i%3 == 0 {
				_, text, _ := s.openStream(doubleCharge, nil).rest()
				answers[i] = text
				return
			}
			answers[i] = s.ask(doubleCharge).Answer
		})
	}
	<-arrived
	// Whoever comes later than the answer gets it too, and asks for no other.
	for end := time.Now().Add(patience); s.traffic()["data_version"] < len(answers) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(let)
	running.Wait()
	for i, answer := range answers {
		if answer == "" || answer != answers[0] {
			t.Errorf("answer %d is %q, the first %q", i, answer, answers[0])
		}
	}
	for _, name := range []string{"completions", "retrieve_chunks"} {
		if made := s.traffic()[name]; made != 1 {
			t.Errorf("%s was asked %d times", name, made)
		}
	}
}

// copies are services over one database and one Redis.
func copies(t *testing.T) (one, two *service, stop func(syscall.Signal)) {
	t.Helper()
	url, process := testbed.Redis(t)
	redis := func() memo.Store {
		store, err := cache.NewRedis(url, func(string, error) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	one = startTracker(t, func(c *setup) { c.store = redis() })
	two = start(t, func(c *setup) {
		c.store = redis()
		c.database = func(testing.TB) *testbed.DB { return one.db }
	})
	two.ids = one.ids
	return one, two, func(signal syscall.Signal) {
		if err := process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
}

// Copies of the service share what they remember, and do without a Redis that hangs or is gone.
func TestCopiesShareRedis(t *testing.T) {
	t.Parallel()
	one, two, stop := copies(t)
	search, question := map[string]any{"query": "payment"}, map[string]any{"question": doubleCharge}
	one.post("/api/hybrid-search", search).from(madeAndKept)
	one.post("/api/query", question).from(madeAndKept)
	two.costs(map[string]int{"data_version": 2}, func() {
		two.post("/api/hybrid-search", search).from(fromMemory)
		two.post("/api/query", question).from(fromMemory)
	})
	// A query that one has embedded is not embedded by the other.
	one.search("refund")
	two.costs(map[string]int{"data_version": 1, "search_hybrid": 1}, func() { two.search("refund", map[string]any{"limit": 2}) })
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		stop(signal)
		for i := range 3 {
			got := two.post("/api/hybrid-search", map[string]any{"query": fmt.Sprint("payment ", signal, i)}).want(http.StatusOK)
			var body found
			if err := json.Unmarshal([]byte(got.text), &body); err != nil || body.Cached || len(body.Results) == 0 {
				t.Errorf("%v: %v, %s", signal, err, got.text)
			}
		}
	}
}
