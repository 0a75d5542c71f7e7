package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"tasklens/internal/memo"
	"tasklens/internal/shared"
	"tasklens/internal/testbed"
)

// Identical concurrent requests share one result. A stream is computed for its own client.
func TestIdenticalRequestsCollapse(t *testing.T) {
	t.Parallel()
	s := startTracker(t, logging)
	arrived, let := make(chan struct{}, 12), make(chan struct{})
	s.model.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "completions" {
			arrived <- struct{}{}
			<-let
		}
		return false
	})
	var running sync.WaitGroup
	answers, statuses := make([]string, 12), make([]string, 12)
	for i := range answers {
		if i == 1 {
			<-arrived
		}
		running.Go(func() {
			if i == 0 {
				_, answers[i], _ = s.openStream(doubleCharge, nil).rest()
				return
			}
			got := s.post("/api/query", map[string]any{"question": doubleCharge})
			answers[i], statuses[i] = read[answered](got).Answer, got.header.Get("Cache-Status")
		})
	}
	// The stream's answer is held until another request computes, else all could find it cached.
	<-arrived
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
	// Who comes after the result gets it from the cache.
	made := map[string]int{}
	for _, status := range statuses[1:] {
		made[status]++
	}
	if made[madeAndKept] != 1 || made["tasklens; fwd=miss; collapsed"]+made[fromMemory] != len(answers)-2 {
		t.Errorf("the responses are marked %v", made)
	}
	for _, name := range []string{"completions", "retrieve_chunks"} {
		if made := s.traffic()[name]; made != 2 {
			t.Errorf("%s was asked %d times, want once for the stream and once for the others", name, made)
		}
	}
	paid := 0
	rows := s.queryLog()
	for _, row := range rows {
		if row.TokensIn > 0 {
			paid++
		}
	}
	if len(rows) != len(answers) || paid != 2 {
		t.Errorf("of %d logged %d have cost something", len(rows), paid)
	}
}

// copies starts two services over one database and one Redis.
func copies(t *testing.T) (one, two *service, stop func(syscall.Signal)) {
	t.Helper()
	url, process := testbed.Redis(t)
	redis := func() memo.Store {
		store, err := shared.NewRedis(url, 2*time.Second, func(string, error) {})
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

// Copies of the service share their cache, and work without a Redis that hangs or is gone.
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
	// A query that one has embedded is not embedded again by the other.
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
