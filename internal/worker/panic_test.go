package worker_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/worker"
)

// A panic fails its jobs like an error: only the source that causes it ends up dead, the others are
// embedded.
func TestPanicFailsItsJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var panics atomic.Int64
	b.model.before = func(_ context.Context, _ string, inputs []string) error {
		if strings.Contains(strings.Join(inputs, " "), "valve 17") {
			panics.Add(1)
			panic("this one is poison")
		}
		return nil
	}
	b.fill(30)
	o := quick(t)
	o.Attempts = 6
	b.start(o)
	b.await(1, deadJobs)
	b.await(0, openJobs)
	b.await(1, `select count(*) from tasklens.embedding_jobs where last_error like '%panic: this one is poison%' and last_error not like '%goroutine%'`)
	if panics.Load() < 6 {
		t.Errorf("the source that panics was tried %d times, want 6 or more", panics.Load())
	}
}

// fragile is a database whose calls panic a limited number of times.
type fragile struct {
	worker.Database
	left map[string]*atomic.Int64
}

func (f fragile) Call(ctx context.Context, function string, arguments, result any) error {
	if left := f.left[function]; left != nil && left.Add(-1) >= 0 {
		panic("the database client is broken")
	}
	return f.Database.Call(ctx, function, arguments, result)
}

// Wherever a worker panics, it continues, and its jobs are done in the end.
func TestWorkerSurvivesPanics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	db := fragile{b.rows, map[string]*atomic.Int64{}}
	for _, function := range []string{"claim_embedding_jobs", "extend_embedding_leases", "finish_embedding_jobs", "fail_embedding_jobs"} {
		db.left[function] = &atomic.Int64{}
		db.left[function].Store(2)
	}
	var watched atomic.Int64
	o := quick(t)
	o.Lease = time.Second
	o.Watch = func(ctx context.Context, _ int) (context.Context, func(int, error)) {
		if watched.Add(1) == 1 {
			panic("the watcher is broken")
		}
		return ctx, func(int, error) {}
	}
	b.fill(30)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.New(db, b.indexer, o).Run(ctx)
	}()
	b.await(0, openJobs)
	b.await(0, deadJobs)
	cancel()
	<-ended
	b.mustBeCurrent()
}
