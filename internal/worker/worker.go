// Package worker keeps chunks in step with texts that change: it takes jobs from the queue in the
// database, has their sources indexed, and says what became of them. It owns how many are under
// way, what is tried again and when, and that a worker which stops leaves nothing taken. The queue
// itself, its order and its delays are the database's; how a text becomes chunks is the indexer's.
// Any number of workers may run over one database.
package worker

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"tasklens/internal/index"
	"tasklens/internal/rescue"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Indexer brings sources in step. The outcome of one is nil where that is done, index.ErrUndone
// where it is to be tried again, else why it failed by itself; err is why nothing more could be
// done.
type Indexer interface {
	Sync(ctx context.Context, db index.Database, sources []index.Source) (outcomes []error, err error)
}

// Options say how a worker works. What is zero has the default.
type Options struct {
	Concurrency int           // batches under way at a time; 4
	Batch       int           // sources of one batch, at most 1000; 100
	Lease       time.Duration // how long what a dead worker had taken stays taken; 1 min
	Attempts    int           // after which a job is given up; 10
	Poll        time.Duration // the mean pause between two looks at an idle queue; 1.25 s
	Retry       time.Duration // after the first failure, then twice as long each time; 5 s
	// Warn is told what fails. It is called from several goroutines.
	Warn func(ctx context.Context, message string, err error)
	// Watch is told of each group of so many sources. The context that it gives is that of the
	// work; the function that it gives is called once, with how many are done and why the rest is
	// not. nil watches nothing.
	Watch func(ctx context.Context, sources int) (context.Context, func(done int, err error))
}

// Worker works until it is told to stop.
type Worker struct {
	db      Database
	indexer Indexer
	options Options
	brake   brake
	leases  leases
	ended   chan struct{} // a batch has ended since the dispatcher looked
}

// New makes a worker. Nothing happens before Run.
func New(db Database, indexer Indexer, o Options) *Worker {
	o.Concurrency = cmp.Or(o.Concurrency, 4)
	o.Batch = cmp.Or(o.Batch, 100)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Attempts = cmp.Or(o.Attempts, 10)
	o.Poll = cmp.Or(o.Poll, 1250*time.Millisecond)
	o.Retry = cmp.Or(o.Retry, 5*time.Second)
	if o.Watch == nil {
		o.Watch = func(ctx context.Context, _ int) (context.Context, func(int, error)) { return ctx, func(int, error) {} }
	}
	return &Worker{db: db, indexer: indexer, options: o, ended: make(chan struct{}, 1)}
}

// shortest is the first pause of a queue that has just run empty: where something was written, more
// often follows.
const shortest = 100 * time.Millisecond

// Run works until the context ends, and returns when all that it had taken is done or free again.
func (w *Worker) Run(ctx context.Context) {
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { w.beat(beating) })
	background.Go(func() { w.sweep(beating) })
	defer background.Wait()
	defer stopBeating() // after the last batch
	var batches sync.WaitGroup
	defer batches.Wait()

	slots := make(chan struct{}, w.options.Concurrency)
	pause := shortest
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if w.brake.wait(ctx) != nil {
			return
		}
		wanted := w.options.Batch
		if w.brake.on() {
			wanted = 1 // one job is enough to see whether it goes on, and spends no attempts of the others
		}
		taken, err := w.claim(ctx, wanted)
		if len(taken.Jobs) > 0 {
			pause = shortest
			batches.Go(func() {
				w.alone(ctx, func(ctx context.Context) { w.work(ctx, taken) })
				<-slots
				select {
				case w.ended <- struct{}{}:
				default:
				}
			})
			continue
		}
		<-slots
		if err != nil {
			if ctx.Err() == nil {
				w.warn(ctx, "take embedding jobs", err)
			}
			w.brake.stop()
			continue
		}
		w.idle(ctx, pause, taken.NextDueSeconds)
		pause = min(2*pause, w.options.Poll)
	}
}

// idle waits for about so long, or until a job comes due, or a batch ends: what was edited during
// it can be taken then.
func (w *Worker) idle(ctx context.Context, pause time.Duration, due *float64) {
	// Workers that began together shall not ask together.
	pause = time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
	if due != nil && *due < pause.Seconds() {
		pause = max(10*time.Millisecond, time.Duration(*due*float64(time.Second)))
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ended:
	case <-ctx.Done():
	}
}

// alone runs work of which a panic must not end the rest. What it had taken and not given back is
// free when its lease is over, with an attempt used up.
func (w *Worker) alone(ctx context.Context, work func(context.Context)) {
	err := rescue.Do(func() error {
		work(ctx)
		return nil
	})
	if err != nil {
		w.brake.stop()
	}
}

func (w *Worker) warn(ctx context.Context, message string, err error) {
	if w.options.Warn != nil {
		w.options.Warn(ctx, message, err)
	}
}
