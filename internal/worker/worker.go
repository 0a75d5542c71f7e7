// Package worker keeps chunks in step with changing texts: it claims jobs from the queue, has their
// sources indexed, and reports the outcome. It owns concurrency, retries, and that a stopping
// worker releases its jobs. The queue with its order and delays belongs to the database; turning a
// text into chunks belongs to the indexer. Any number of workers may share a database.
package worker

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"tasklens/internal/queue"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
	"tasklens/internal/wait"
)

// Indexer brings sources, given by their ids, in step. The outcome of a source is nil if it is
// done, index.ErrUndone if it should be tried again, otherwise its own failure; err is why nothing
// more could be done.
type Indexer interface {
	Sync(ctx context.Context, db rpc.Caller, sources []int64) (outcomes []error, err error)
}

// Options configure a worker. Zero values mean the default.
type Options struct {
	Concurrency int           // concurrent batches; 4
	Batch       int           // sources in one batch, at most 1000; 100
	Lease       time.Duration // how long jobs of a dead worker stay claimed; 1 min
	Attempts    int           // before a job is given up; 10
	Poll        time.Duration // mean interval between polls of an idle queue; 1.25 s
	Retry       time.Duration // of a job after its first failure, doubling each time, and of the worker after any; 5 s
	// Warn is called with failures, from several goroutines.
	Warn func(ctx context.Context, message string, err error)
	// Watch is called with the size of each group. The context it returns is used for the work; the
	// function it returns is called once, with how many are done and why the others are not.
	Watch func(ctx context.Context, sources int) (context.Context, func(done int, err error))
}

// Worker works until its context ends.
type Worker struct {
	db       rpc.Caller
	jobs     queue.Queue
	indexer  Indexer
	options  Options
	failing  atomic.Bool   // nothing has succeeded since the last failure
	claiming chan struct{} // holds one while a goroutine claims
}

// New returns a Worker. Run starts it.
func New(db rpc.Caller, indexer Indexer, o Options) *Worker {
	o.Concurrency = cmp.Or(o.Concurrency, 4)
	o.Batch = cmp.Or(o.Batch, 100)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Attempts = cmp.Or(o.Attempts, 10)
	o.Poll = cmp.Or(o.Poll, 1250*time.Millisecond)
	o.Retry = cmp.Or(o.Retry, 5*time.Second)
	if o.Warn == nil {
		o.Warn = func(context.Context, string, error) {}
	}
	if o.Watch == nil {
		o.Watch = func(ctx context.Context, _ int) (context.Context, func(int, error)) { return ctx, func(int, error) {} }
	}
	jobs := queue.Queue{DB: db, Kind: queue.Embed, Lease: o.Lease, Attempts: o.Attempts, Retry: o.Retry, Warn: o.Warn}
	return &Worker{db: db, jobs: jobs, indexer: indexer, options: o, claiming: make(chan struct{}, 1)}
}

// shortest is the first pause after the queue runs empty: one write is often followed by another.
const shortest = 100 * time.Millisecond

// Run works until the context ends, and returns when all claimed jobs are done or released. A panic
// costs a batch: jobs it did not release become free when the lease expires, with one attempt used
// up.
func (w *Worker) Run(ctx context.Context) {
	var running sync.WaitGroup
	for range w.options.Concurrency {
		running.Go(func() {
			for ctx.Err() == nil {
				pause := w.options.Retry // after a panic
				_ = rescue.Do(func() error {
					pause = w.work(ctx, w.await(ctx))
					return nil
				})
				_ = wait.For(ctx, pause)
			}
		})
	}
	running.Wait()
}

// await claims jobs as soon as there are some. One goroutine at a time asks for them.
func (w *Worker) await(ctx context.Context) (taken queue.Claimed) {
	w.claiming <- struct{}{}
	defer func() { <-w.claiming }()
	for pause := shortest; ctx.Err() == nil; pause = min(2*pause, w.options.Poll) {
		wanted := w.options.Batch
		if w.failing.Load() {
			wanted = 1 // one job shows whether it works again, without using up the attempts of others
		}
		taken, err := w.jobs.Claim(ctx, wanted)
		if len(taken.Jobs) > 0 {
			return taken
		}
		if err != nil {
			if ctx.Err() == nil {
				w.options.Warn(ctx, "take embedding jobs", err)
			}
			_ = wait.For(ctx, w.options.Retry)
			continue
		}
		// Workers started together must not poll together.
		idle := time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
		if due := taken.NextDueSeconds; due != nil && *due < idle.Seconds() {
			idle = max(10*time.Millisecond, time.Duration(*due*float64(time.Second)))
		}
		_ = wait.For(ctx, idle)
	}
	return queue.Claimed{}
}
