package knowledge_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"tasklens/internal/knowledge"
)

// tracked is a database that counts retrievals, one call at a time, when the test allows it.
type tracked struct {
	calls atomic.Int64
	let   chan error
}

func (d *tracked) Call(ctx context.Context, _ string, _, _ any) error {
	d.calls.Add(1)
	select {
	case err := <-d.let:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Searches beyond the queue, failed writes and what is left on Close are dropped and reported.
func TestTracker(t *testing.T) {
	t.Parallel()
	db := &tracked{let: make(chan error)}
	var lost atomic.Int64
	var cause atomic.Value
	tracker := knowledge.NewTracker(db, func(n int64, err error) {
		lost.Add(n)
		if err != nil {
			cause.Store(err)
		}
	})
	const searches = 3000
	for range searches {
		tracker.Retrieved([]string{"d"}, "q") // the writer is blocked, and Retrieved is not
	}
	tracker.Retrieved(nil, "found nothing")
	broken := errors.New("broken")
	db.let <- broken
	db.let <- nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tracker.Close(ctx)
	tracker.Retrieved([]string{"d"}, "too late")
	tracker.Close(context.Background())
	if lost.Load() != searches-1+1 {
		t.Errorf("%d of %d searches are told to be lost; one was counted", lost.Load(), searches+1)
	}
	if err, _ := cause.Load().(error); err == nil {
		t.Error("no cause is told")
	}
	if calls := db.calls.Load(); calls > 1003 {
		t.Errorf("%d calls: the queue is not bounded", calls)
	}
	var none *knowledge.Tracker
	none.Retrieved([]string{"d"}, "q")
	none.Close(context.Background())
}
