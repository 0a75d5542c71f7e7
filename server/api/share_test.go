package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"tasklens/internal/memo"
	"tasklens/internal/shared"
	"tasklens/internal/testbed"
)

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
