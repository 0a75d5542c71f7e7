package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/rpc"
	"tasklens/internal/worker"
)

// fragile is a database whose calls panic a limited number of times.
type fragile struct {
	rpc.Caller
	left map[string]*atomic.Int64
}

func (f fragile) Call(ctx context.Context, function string, arguments, result any) error {
	if left := f.left[function]; left != nil && left.Add(-1) >= 0 {
		panic("the database client is broken")
	}
	return f.Caller.Call(ctx, function, arguments, result)
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
