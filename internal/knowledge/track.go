package knowledge

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	trackQueue   = 1000 // searches that wait to be counted; more are not counted
	trackTimeout = 5 * time.Second
	warnEvery    = time.Minute
)

// Tracker counts what was found, behind the backs of those who search: nobody waits for it, and nothing fails by it. It
// is safe for concurrent use; a nil one counts nothing.
type Tracker struct {
	db    Database
	warn  func(lost int64, cause error)
	queue chan retrieval
	// Of every call; ended when the time to finish is over.
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mutex  sync.Mutex
	closed bool
	lost   int64
	cause  error
	warned time.Time
}

type retrieval struct {
	documents []string
	query     string
}

// NewTracker starts a tracker; Close ends it. warn is called at most once a minute, and at the end: so many searches were
// not counted since it was called last. cause is the last failure, nil where they came faster than they could be counted.
func NewTracker(db Database, warn func(lost int64, cause error)) *Tracker {
	t := &Tracker{db: db, warn: warn, queue: make(chan retrieval, trackQueue), done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.run()
	return t
}

// Retrieved says that a query found these documents. It never waits.
func (t *Tracker) Retrieved(documents []string, query string) {
	if t == nil || len(documents) == 0 {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.closed {
		select {
		case t.queue <- retrieval{documents, query}:
			return
		default:
		}
	}
	t.lost++
}

// Close takes no search any more and counts those that wait until the context ends; the rest is lost.
func (t *Tracker) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.mutex.Lock()
	if !t.closed {
		t.closed = true
		close(t.queue)
	}
	t.mutex.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
		t.cancel()
		<-t.done
	}
	t.cancel()
	t.tell(0)
}

func (t *Tracker) run() {
	defer close(t.done)
	for next := range t.queue {
		if err := t.count(next); err != nil {
			t.mutex.Lock()
			t.lost++
			t.cause = err
			t.mutex.Unlock()
		}
		t.tell(warnEvery)
	}
}

func (t *Tracker) count(r retrieval) error {
	ctx, cancel := context.WithTimeout(t.ctx, trackTimeout)
	defer cancel()
	err := t.db.Call(ctx, "track_document_retrievals", map[string]any{"doc_ids": r.documents, "query_text": r.query}, nil)
	if err != nil {
		return fmt.Errorf("track retrievals: %w", err)
	}
	return nil
}

// tell warns of what was lost since it was told last, if that is long enough ago.
func (t *Tracker) tell(longEnough time.Duration) {
	t.mutex.Lock()
	lost, cause, now := t.lost, t.cause, time.Now()
	if lost == 0 || now.Sub(t.warned) < longEnough {
		t.mutex.Unlock()
		return
	}
	t.lost, t.cause, t.warned = 0, nil, now
	t.mutex.Unlock()
	t.warn(lost, cause)
}
