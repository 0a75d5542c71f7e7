package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/rpc"
	"tasklens/internal/worker"
)

// queue stands in for the database and counts calls, and warnings of the worker; its clock is the
// test's.
type queue struct {
	mutex  sync.Mutex
	calls  map[string]int
	warned map[string]int
	wanted []int // of each claim
	jobs   int   // available jobs; they return when they fail
	broken bool
}

func (q *queue) Call(_ context.Context, function string, arguments, result any) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.calls[function]++
	if q.broken {
		return errors.New("no database")
	}
	if function != "claim_embedding_jobs" {
		return nil
	}
	wanted := arguments.(map[string]any)["job_limit"].(int)
	q.wanted = append(q.wanted, wanted)
	jobs := []map[string]any{}
	for i := range min(wanted, q.jobs) {
		jobs = append(jobs, map[string]any{"job_id": i + 1, "project_id": 1, "ticket_id": i + 1, "attempt": 1})
	}
	text, err := json.Marshal([]map[string]any{{"lease_id": "l", "jobs": jobs, "next_due_seconds": nil}})
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// failing is an indexer that fails always, after some time.
type failing struct {
	err   error
	takes time.Duration
}

func (f failing) Sync(_ context.Context, _ rpc.Caller, sources []int64) ([]error, error) {
	time.Sleep(f.takes)
	outcomes := make([]error, len(sources))
	if f.err != nil {
		for i := range outcomes {
			outcomes[i] = index.ErrUndone
		}
	}
	return outcomes, f.err
}

// runFor runs a worker for this long.
func runFor(t *testing.T, lasting time.Duration, q *queue, f failing) {
	t.Helper()
	q.calls, q.warned = map[string]int{}, map[string]int{}
	warn := func(_ context.Context, what string, _ error) {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		q.warned[what]++
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), lasting)
		defer cancel()
		worker.New(q, f, worker.Options{Warn: warn}).Run(ctx)
	})
}

func TestIdleWorkerPollsRarely(t *testing.T) {
	t.Parallel()
	q := &queue{}
	runFor(t, 1000*time.Second, q, failing{})
	if asked := q.calls["claim_embedding_jobs"]; asked < 700 || asked > 900 || len(q.calls) > 1 || len(q.warned) > 0 {
		t.Errorf("the calls in 1000 s are %v, the warnings %v", q.calls, q.warned)
	}
}

func TestWorkerWithoutDatabasePollsRarely(t *testing.T) {
	t.Parallel()
	q := &queue{broken: true}
	runFor(t, 300*time.Second, q, failing{})
	if asked := q.calls["claim_embedding_jobs"]; asked < 55 || asked > 61 {
		t.Errorf("the worker claimed jobs %d times in 300 s, want one each 5 s", asked)
	} else if q.warned["take embedding jobs"] != asked {
		t.Errorf("of %d claims that failed the worker's warnings are %v", asked, q.warned)
	}
}

// While everything fails, one job at a time is tried, so that the others keep their attempts.
func TestProviderOutageCostsFewAttempts(t *testing.T) {
	t.Parallel()
	q := &queue{jobs: 1000}
	runFor(t, 300*time.Second, q, failing{err: errors.New("down")})
	tried := 0
	for _, wanted := range q.wanted {
		tried += wanted
	}
	// At most a batch of each goroutine, before the first shows that all fail; then one job each 5 s.
	if tried > 4*100+4*60 || len(q.wanted) < 4*50 {
		t.Errorf("the claims in 300 s were of %v jobs", q.wanted)
	}
}

// During a provider's rate limit the worker pauses as long as it says, which uses up no attempts.
func TestRateLimitPausesTheWorker(t *testing.T) {
	t.Parallel()
	for retryAfter, most := range map[time.Duration]int{
		time.Minute: 4 * 5,  // in each of four slots at 0, 61, 122, 183 and 244 s
		0:           4 * 51, // every 6 s
	} {
		limited := fault.New(fault.Unavailable, "Too fast.")
		limited.RetryAfter = retryAfter
		q := &queue{jobs: 1000}
		runFor(t, 300*time.Second, q, failing{limited, time.Second})
		if asked := q.calls["claim_embedding_jobs"]; asked > most || asked < most/2 || q.calls["fail_embedding_jobs"] > 0 || q.calls["release_embedding_jobs"] == 0 {
			t.Errorf("with a Retry-After of %v the calls in 300 s are %v", retryAfter, q.calls)
		}
	}
}
