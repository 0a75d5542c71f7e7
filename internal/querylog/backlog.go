package querylog

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/rescue"
)

const (
	queueSize  = 1000                   // entries queued in memory, of about 20 kB each at most
	linger     = 500 * time.Millisecond // how long an entry waits for others to share its batch
	timeout    = 5 * time.Second        // of one attempt to write
	firstPause = time.Second            // between attempts; doubled each time
	idle       = time.Hour              // after which nothing is written, too
	warnEvery  = time.Minute            // the minimum between two warnings about lost entries
)

// Warn is called at most once per warnEvery, and on Close, with the number of entries lost since
// the last call. cause is the last error of the writer, or nil if entries only arrived faster than
// they could be written.
type Warn func(lost int64, cause error)

// Backlog is a bounded queue with one writer in the background. What is lost on overload, or after
// the last attempt, is counted and reported, the last time by Close; Add never returns an error. It
// is safe for concurrent use. A nil Backlog discards all.
type Backlog[T any] struct {
	batch, attempts int // entries written together, and attempts to write them, at most
	warning         Warn
	write           func(context.Context, []T) error
	queue           chan T
	closing         chan struct{}
	cancel          context.CancelFunc
	stopped         chan struct{} // closed when the writer has returned

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

// start returns a backlog and starts its writer, which also gets an empty batch at the start and
// where nothing is queued for long. Close stops both.
func start[T any](batch, attempts int, warn Warn, write func(ctx context.Context, batch []T) error) *Backlog[T] {
	b := &Backlog[T]{
		batch: batch, attempts: attempts, warning: warn, write: write, queue: make(chan T, queueSize), closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(b.stopped)
		for pause := time.Duration(0); ; pause = idle {
			select {
			case first, more := <-b.queue:
				if !more {
					return
				}
				b.process(ctx, b.gather(first))
			case <-time.After(pause):
				b.process(ctx, nil)
			}
			b.warn(warnEvery)
		}
	}()
	return b
}

// gather collects the entries that arrive shortly after the first one, or those present if the
// queue is closed.
func (b *Backlog[T]) gather(first T) []T {
	batch := []T{first}
	enough := time.NewTimer(linger)
	defer enough.Stop()
	for len(batch) < b.batch {
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
func (b *Backlog[T]) process(ctx context.Context, batch []T) {
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
		if attempt >= b.attempts || ctx.Err() != nil {
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
func (b *Backlog[T]) Add(entry T) {
	if b == nil {
		return
	}
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
func (b *Backlog[T]) warn(longEnough time.Duration) {
	b.mutex.Lock()
	lost, cause := b.lost, b.cause
	if lost == 0 || time.Since(b.warned) < longEnough {
		b.mutex.Unlock()
		return
	}
	b.lost, b.cause, b.warned = 0, nil, time.Now()
	b.mutex.Unlock()
	b.warning(lost, cause)
}

// Close stops accepting entries, lets the writer finish until the context ends, and reports what is
// lost.
func (b *Backlog[T]) Close(ctx context.Context) {
	if b == nil {
		return
	}
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
