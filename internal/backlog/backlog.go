// Package backlog keeps what is done later, so that nobody waits for it: a bounded queue with one worker. It owns what
// happens when there is too much, when it fails and when the program ends: what is lost is counted and told of until Close returns, and never
// an error of whoever added it. It must not know what waits in it, nor what is done with that.
package backlog

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/rescue"
	"tasklens/internal/wait"
)

// WarnEvery is how often, at the most, the loss of entries is told.
const WarnEvery = time.Minute

// panicPause is how long the worker rests after it panicked.
const panicPause = time.Second

// Backlog is a queue of what waits. It is safe for concurrent use.
type Backlog[T any] struct {
	warn    func(lost int64, cause error)
	queue   chan T
	closing chan struct{}
	cancel  context.CancelFunc
	stopped chan struct{} // closed when the worker is done

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

// Start makes a backlog of at most size entries and starts its worker, which takes Waiting until that is closed; Close
// ends both. The worker's context ends when the time to finish is over. warn is called at most once every WarnEvery, and
// at the end: so many entries were lost since it was called last. cause is the last that the worker gave, nil where
// all of them only came faster than it could work.
func Start[T any](size int, warn func(lost int64, cause error), work func(context.Context, *Backlog[T])) *Backlog[T] {
	b := &Backlog[T]{warn: warn, queue: make(chan T, size), closing: make(chan struct{}), stopped: make(chan struct{})}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(b.stopped)
		b.run(ctx, work)
	}()
	return b
}

// run has the worker work until it is done. A panic of it costs the entry at hand and a pause.
func (b *Backlog[T]) run(ctx context.Context, work func(context.Context, *Backlog[T])) {
	for {
		err := rescue.Do(func() error {
			b.Tell()
			work(ctx, b)
			return nil
		})
		if err == nil {
			return
		}
		b.Lose(1, err)
		if wait.For(ctx, panicPause) != nil {
			b.Lose(len(b.queue), err)
			return
		}
	}
}

// Add takes an entry and never waits: one that finds the queue full, or closed, is lost and counted.
func (b *Backlog[T]) Add(entry T) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.closed {
		select {
		case b.queue <- entry:
			return
		default:
		}
	}
	b.lost++
}

// Waiting is what was added, in order, and closed once there will be no more.
func (b *Backlog[T]) Waiting() <-chan T { return b.queue }

// Closing is closed when nothing is added any more: the time that is left is better used than for a pause.
func (b *Backlog[T]) Closing() <-chan struct{} { return b.closing }

// Lose counts entries that the worker gave up.
func (b *Backlog[T]) Lose(n int, cause error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.lost += int64(n)
	b.cause = cause
}

// Tell warns of what was lost, unless it did less than WarnEvery ago. The worker calls it now and then: who adds must not
// wait for a log either.
func (b *Backlog[T]) Tell() { b.tell(WarnEvery) }

func (b *Backlog[T]) tell(longEnough time.Duration) {
	b.mutex.Lock()
	lost, cause, now := b.lost, b.cause, time.Now()
	if lost == 0 || now.Sub(b.warned) < longEnough {
		b.mutex.Unlock()
		return
	}
	b.lost, b.cause, b.warned = 0, nil, now
	b.mutex.Unlock()
	b.warn(lost, cause)
}

// Close takes no entry any more and has the worker finish until the context ends, and tells what is lost then.
func (b *Backlog[T]) Close(ctx context.Context) {
	b.mutex.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
		close(b.queue)
	}
	b.mutex.Unlock()
	select {
	case <-b.stopped:
	case <-ctx.Done():
		b.cancel()
		<-b.stopped
	}
	b.cancel()
	b.tell(0)
}
