// Package backlog runs work in the background: a bounded queue with one worker. It owns what
// happens on overload, on failure and on shutdown. Lost entries are counted and reported, the last
// time by Close; Add never returns an error. The package does not know what the entries are.
package backlog

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/rescue"
	"tasklens/internal/wait"
)

// WarnEvery is the minimum interval between two warnings about lost entries.
const WarnEvery = time.Minute

// panicPause is the worker's pause after a panic.
const panicPause = time.Second

// Backlog is a queue. It is safe for concurrent use.
type Backlog[T any] struct {
	warn    func(lost int64, cause error)
	queue   chan T
	closing chan struct{}
	cancel  context.CancelFunc
	stopped chan struct{} // closed when the worker has returned

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

// Start returns a queue of at most size entries and starts its worker, which reads Waiting until
// that is closed. Close stops both. The worker's context ends when the time to finish is over. warn
// is called at most once per WarnEvery, and on Close, with the number of entries lost since the
// last call. cause is the worker's last error, or nil if entries only arrived faster than it could
// work.
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

// run runs the worker until it returns. A panic costs the current entry and a pause.
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

// Add queues an entry and never blocks. If the queue is full or closed, the entry is dropped and
// counted.
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

// Waiting returns the queued entries in order. It is closed once no more will follow.
func (b *Backlog[T]) Waiting() <-chan T { return b.queue }

// Closing is closed once no more entries are accepted. The worker should then skip pauses.
func (b *Backlog[T]) Closing() <-chan struct{} { return b.closing }

// Lose counts entries that the worker failed to process.
func (b *Backlog[T]) Lose(n int, cause error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.lost += int64(n)
	b.cause = cause
}

// Tell warns of lost entries, at most once per WarnEvery. The worker calls it from time to time,
// because Add must not wait for a log either.
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

// Close stops accepting entries, lets the worker finish until the context ends, and reports what is
// lost.
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
