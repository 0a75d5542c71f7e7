// Package querylog keeps what was asked and what came of it, for whoever runs the service: it takes entries without
// making anyone wait, writes them in batches, and has old ones deleted. It owns what an entry tells and how it is
// flagged. It must not know HTTP, nor how the database is reached, and nothing depends on its success.
package querylog

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// queueSize bounds the entries that wait in memory: some 20 kB each at most.
const queueSize = 1000

// Options are what an operator chooses, and who is told of what is lost.
type Options struct {
	RetentionDays int
	// Warn is called at most once a minute, and at the end: so many entries were lost since it was called last. cause is
	// the last failure to write, nil where they came faster than they could be written.
	Warn func(lost int64, cause error)
}

// Log takes entries. It is safe for concurrent use; a nil *Log forgets what it is given.
type Log struct {
	db      Database
	options Options
	queue   chan Entry
	ctx     context.Context // of every write
	cancel  context.CancelFunc
	stop    chan struct{} // closed when no entry comes any more
	stopped chan struct{} // closed when the writer is done

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

// New makes a log and starts its writer; Close ends it.
func New(db Database, options Options) *Log {
	l := &Log{db: db, options: options, queue: make(chan Entry, queueSize), stop: make(chan struct{}), stopped: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run()
	return l
}

// Add takes an entry and never waits: one that finds the queue full, or the log closed, is lost and counted.
func (l *Log) Add(e Entry) {
	if l == nil {
		return
	}
	// Made here, so that a batch that is sent again is the same one. In the order of time, which suits the index.
	e.ID = uuid.Must(uuid.NewV7())
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.closed {
		select {
		case l.queue <- e:
			return
		default:
		}
	}
	l.lost++
}

// Close takes no entry any more and writes those that wait until the context ends; the rest is lost.
func (l *Log) Close(ctx context.Context) {
	if l == nil {
		return
	}
	l.mutex.Lock()
	first := !l.closed
	l.closed = true
	l.mutex.Unlock()
	if first {
		close(l.stop)
	}
	select {
	case <-l.stopped:
	case <-ctx.Done():
		l.cancel()
		<-l.stopped
	}
	l.cancel()
	l.warn(0)
}

// lose counts entries that could not be written.
func (l *Log) lose(n int, cause error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lost += int64(n)
	l.cause = cause
}

// warn tells what was lost since it was told last, if that is long enough ago.
func (l *Log) warn(longEnough time.Duration) {
	l.mutex.Lock()
	lost, cause, now := l.lost, l.cause, time.Now()
	if lost == 0 || now.Sub(l.warned) < longEnough {
		l.mutex.Unlock()
		return
	}
	l.lost, l.cause, l.warned = 0, nil, now
	l.mutex.Unlock()
	l.options.Warn(lost, cause)
}
