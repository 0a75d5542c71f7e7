package querylog

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const size = 10

var errBroken = errors.New("broken")

// warnings records the calls of warn.
type warnings struct {
	at    []time.Time
	lost  []int64
	cause error // the last
}

func (w *warnings) warn(lost int64, cause error) {
	w.at, w.lost, w.cause = append(w.at, time.Now()), append(w.lost, lost), cause
}

// inQueueBubble runs a test in a synctest bubble, where time advances when all goroutines wait.
func inQueueBubble(t *testing.T, test func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, test)
}

func addNumbers(b *Backlog[int], from, to int) {
	for i := from; i < to; i++ {
		b.Add(i)
	}
}

// startOne starts a backlog that writes one entry at a time, once.
func startOne(told *warnings, write func(ctx context.Context, entry int) error) *Backlog[int] {
	return start(1, 1, told.warn, func(ctx context.Context, batch []int) error {
		if len(batch) == 0 {
			return nil
		}
		return write(ctx, batch[0])
	})
}

func TestEntriesAreWrittenInOrder(t *testing.T) {
	inQueueBubble(t, func(t *testing.T) {
		var told warnings
		var done []int
		b := startOne(&told, func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			done = append(done, i)
			return nil
		})
		started := time.Now()
		addNumbers(b, 0, size)
		if time.Since(started) != 0 {
			t.Error("adding takes time")
		}
		b.Close(t.Context())
		if !slices.Equal(done, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || len(told.lost) > 0 {
			t.Errorf("done: %v, told: %v", done, told.lost)
		}
		addNumbers(b, 0, 3)
		b.Close(t.Context())
		if !slices.Equal(told.lost, []int64{3}) || told.cause != nil || len(done) != size {
			t.Errorf("after the end: %v lost by %v, done: %v", told.lost, told.cause, done)
		}
	})
}

func TestOverflowIsDropped(t *testing.T) {
	inQueueBubble(t, func(t *testing.T) {
		var told warnings
		done := 0
		b := startOne(&told, func(context.Context, int) error {
			time.Sleep(time.Second)
			done++
			return nil
		})
		addNumbers(b, 0, 1)
		synctest.Wait() // the writer is busy
		addNumbers(b, 1, 1+queueSize+5)
		b.Close(t.Context())
		if done != 1+queueSize || !slices.Equal(told.lost, []int64{5}) || told.cause != nil {
			t.Errorf("%d done, %v lost by %v", done, told.lost, told.cause)
		}
	})
}

func TestLossIsReportedOnceAMinute(t *testing.T) {
	inQueueBubble(t, func(t *testing.T) {
		var told warnings
		b := startOne(&told, func(context.Context, int) error { return errBroken })
		for i := range 100 {
			b.Add(i)
			time.Sleep(time.Second)
		}
		b.Close(t.Context())
		if !slices.Equal(told.lost, []int64{1, 60, 39}) || !errors.Is(told.cause, errBroken) {
			t.Errorf("told: %v, the last by %v", told.lost, told.cause)
		} else if told.at[1].Sub(told.at[0]) != warnEvery {
			t.Errorf("told at %v", told.at)
		}
	})
}

// When the time to finish is over, Close cancels what is being written, and the rest is lost.
func TestCloseIsBounded(t *testing.T) {
	inQueueBubble(t, func(t *testing.T) {
		var told warnings
		b := startOne(&told, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		addNumbers(b, 0, 4)
		time.Sleep(time.Second)
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		b.Close(ctx)
		if took := time.Since(started); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if !slices.Equal(told.lost, []int64{1, 3}) || !errors.Is(told.cause, context.Canceled) {
			t.Errorf("%v lost by %v", told.lost, told.cause)
		}
	})
}

// Concurrent Add and Close never close a channel twice. Every entry is written or counted as lost.
func TestConcurrentAddAndClose(t *testing.T) {
	t.Parallel()
	var told warnings
	done := 0
	b := startOne(&told, func(context.Context, int) error {
		done++
		return nil
	})
	const clients, each = 8, 500
	var running sync.WaitGroup
	for range clients {
		running.Go(func() { addNumbers(b, 0, each) })
	}
	running.Go(func() { b.Close(context.Background()) })
	running.Wait()
	b.Close(context.Background())
	lost := int64(0)
	for _, n := range told.lost {
		lost += n
	}
	if int64(done)+lost != clients*each {
		t.Errorf("%d done and %d lost of %d", done, lost, clients*each)
	}
}

// A panic of the writer costs its entry, and is reported.
func TestPanicCostsOneEntry(t *testing.T) {
	inQueueBubble(t, func(t *testing.T) {
		var told warnings
		var done []int
		b := startOne(&told, func(_ context.Context, i int) error {
			if i%4 == 3 {
				panic("broken")
			}
			done = append(done, i)
			return nil
		})
		addNumbers(b, 0, size)
		b.Close(t.Context())
		if !slices.Equal(done, []int{0, 1, 2, 4, 5, 6, 8, 9}) || !slices.Equal(told.lost, []int64{1, 1}) || told.cause == nil {
			t.Errorf("done: %v, told: %v, %v", done, told.lost, told.cause)
		}
	})
}
