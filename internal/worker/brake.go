package worker

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/wait"
)

// Pauses after failures: each is twice the previous one.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// brake keeps a worker from claiming jobs, and using up their attempts, while everything fails.
type brake struct {
	mutex sync.Mutex
	pause time.Duration // the last one; 0 after a success
	until time.Time
}

// failed starts the next pause, unless one is running: concurrent batches fail at about the same
// time.
func (b *brake) failed() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if now := time.Now(); !now.Before(b.until) {
		b.pause = min(max(2*b.pause, firstPause), longestPause)
		b.until = now.Add(b.pause)
	}
}

// hold starts a pause of at least this length.
func (b *brake) hold(pause time.Duration) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if until := time.Now().Add(pause); until.After(b.until) {
		b.until = until
	}
}

// loosen records a success.
func (b *brake) loosen() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.pause = 0
}

// on reports whether the last result was a failure.
func (b *brake) on() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.pause > 0
}

// left is the remaining pause.
func (b *brake) left() time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return max(0, time.Until(b.until))
}

// wait waits for the pause to end.
func (b *brake) wait(ctx context.Context) error { return wait.For(ctx, b.left()) }
