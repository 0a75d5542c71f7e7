package worker

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/wait"
)

// Of the pauses after failures: each is twice the one before.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// brake keeps a worker from taking jobs, and using up their attempts, while everything fails.
type brake struct {
	mutex    sync.Mutex
	failures int // groups in a row
	pause    time.Duration
	until    time.Time
}

// failed says that a group failed, and tells whether to go on: one may fail by itself, two in a row
// are no accident.
func (b *brake) failed() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.failures++; b.failures == 1 {
		return true
	}
	b.lengthen()
	return false
}

// stop makes a pause without a failure of a group's.
func (b *brake) stop() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.lengthen()
}

// lengthen makes the next pause, unless one is being made: the batches under way fail at about the
// same time.
func (b *brake) lengthen() {
	if now := time.Now(); !now.Before(b.until) {
		b.pause = min(max(2*b.pause, firstPause), longestPause)
		b.until = now.Add(b.pause)
	}
}

// hold makes a pause of this length at least.
func (b *brake) hold(pause time.Duration) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if until := time.Now().Add(pause); until.After(b.until) {
		b.until = until
	}
}

// loosen says that a group went well.
func (b *brake) loosen() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.failures, b.pause = 0, 0
}

// on tells whether the last that was heard is failure.
func (b *brake) on() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.pause > 0
}

// left is how long the pause lasts still, nothing when the context has ended.
func (b *brake) left(ctx context.Context) time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if ctx.Err() != nil {
		return 0
	}
	return max(0, time.Until(b.until))
}

// wait waits out the pause.
func (b *brake) wait(ctx context.Context) error { return wait.For(ctx, b.left(ctx)) }
