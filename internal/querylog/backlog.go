package querylog

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/rescue"
)

const (
	warnEvery  = time.Minute // the minimum between two warnings about lost entries
	firstPause = time.Second // between attempts; doubled each time
)

// queueOptions configure a backlog.
type queueOptions struct {
	Size     int           // of the queue
	Batch    int           // entries written together, at most
	Linger   time.Duration // how long an entry waits for others to share its batch
	Attempts int           // to write a batch
	// Warn is called at most once per warnEvery, and on Close, with the number of entries lost since
	// the last call. cause is the last error of the writer, or nil if entries only arrived faster than
	// they could be written.
	Warn func(lost int64, cause error)
}

// backlog is a bounded queue with one writer in the background. What is lost on overload, or after
// the last attempt, is counted and reported, the last time by Close; Add never returns an error. It
// is safe for concurrent use.
type backlog[T any] struct {
	options queueOptions
	write   func(context.Context, []T) error
	queue   chan T
	closing chan struct{}
	cancel  context.CancelFunc
	stopped chan struct{} // closed when the writer has returned

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

// startQueue returns a queue and starts its writer. Close stops both.
func startQueue[T any](options queueOptions, write func(ctx context.Context, batch []T) error) *backlog[T] {
	b := &backlog[T]{options: options, write: write, queue: make(chan T, options.Size), closing: make(chan struct{}), stopped: make(chan struct{})}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(b.stopped)
		for first := range b.queue {
			b.process(ctx, b.gather(first))
			b.warn(warnEvery)
		}
	}()
	return b
}

// gather collects the entries that arrive shortly after the first one, or those present if the
// queue is closed.
func (b *backlog[T]) gather(first T) []T {
	batch := []T{first}
	enough := time.NewTimer(b.options.Linger)
	defer enough.Stop()
	for len(batch) < b.options.Batch {
		select {
		case next, more := <-b.queue:
			if !more {
				return batch
			}
			batch = append(batch, next)
		case <-enough.C:
			return batch
		}
	}
	return batch
}

// process writes a batch, or counts it as lost after the last attempt.
func (b *backlog[T]) process(ctx context.Context, batch []T) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := rescue.Do(func() error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return b.write(ctx, batch)
		})
		if err == nil {
			return
		}
		if attempt >= b.options.Attempts || ctx.Err() != nil {
			b.mutex.Lock()
			defer b.mutex.Unlock()
			b.lost, b.cause = b.lost+int64(len(batch)), err
			return
		}
		select {
		case <-time.After(pause):
		case <-b.closing: // do not spend the time that is left on a pause
		}
		pause *= 2
	}
}

// Add queues an entry and never blocks. If the queue is full or closed, the entry is dropped and
// counted.
func (b *backlog[T]) Add(entry T) {
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

// warn reports lost entries, unless it has done so lately. Only the writer and Close call it: Add
// must not wait for a log either.
func (b *backlog[T]) warn(longEnough time.Duration) {
	b.mutex.Lock()
	lost, cause := b.lost, b.cause
	if lost == 0 || time.Since(b.warned) < longEnough {
		b.mutex.Unlock()
		return
	}
	b.lost, b.cause, b.warned = 0, nil, time.Now()
	b.mutex.Unlock()
	b.options.Warn(lost, cause)
}

// Close stops accepting entries, lets the writer finish until the context ends, and reports what is
// lost.
func (b *backlog[T]) Close(ctx context.Context) {
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
	}
	b.cancel() // if it has not stopped, it loses the rest at once
	<-b.stopped
	b.warn(0)
}
