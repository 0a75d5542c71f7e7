package memo_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/memo"
)

// slow is a computation that lasts until it is released or its context ends.
type slow struct {
	begun int
	let   chan struct{}
	ended error // the context's, if that ended first
}

func newSlow() *slow { return &slow{let: make(chan struct{})} }

func (s *slow) work(ctx context.Context) (memo.Made, error) {
	s.begun++
	select {
	case <-s.let:
		return memo.Made{Body: []byte("made"), Keep: []byte("kept")}, nil
	case <-ctx.Done():
		s.ended = ctx.Err()
		return memo.Made{Note: "so far"}, fault.Wrap(fault.Timeout, "The work ended.", ctx.Err())
	}
}

// outcome is the result of a request.
type outcome struct {
	body   string
	origin memo.Origin
	note   any
	err    error
}

// ask starts a request in the background.
func (b *bed) ask(ctx context.Context, request memo.Request, work func(context.Context) (memo.Made, error)) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		made, err := b.Do(ctx, request, work)
		done <- outcome{string(made.Body), made.Origin, made.Note, err}
	}()
	synctest.Wait()
	return done
}

func TestConcurrentRequestsShareOneComputation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		var all []<-chan outcome
		for range 50 {
			all = append(all, b.ask(t.Context(), memo.Request{}, s.work))
		}
		close(s.let)
		for i, done := range all {
			want := outcome{body: "made", origin: memo.Shared}
			if i == 0 {
				want.origin = memo.Stored
			}
			if got := <-done; got != want {
				t.Errorf("request %d returned %+v, want %+v", i, got, want)
			}
		}
		if s.begun != 1 {
			t.Errorf("the result was computed %d times", s.begun)
		}
		b.counts.expect(t, map[memo.Origin]int{memo.Stored: 1, memo.Shared: 49})
		if got := <-b.ask(t.Context(), memo.Request{}, s.work); got != (outcome{body: "kept", origin: memo.Hit}) {
			t.Errorf("the next request returned %+v, want a cache hit", got)
		}
	})
}

// A request does not use a computation under another caller's token, which may expire first; the
// cached result serves both. Neither does one that is told more than the result.
func TestComputationsThatAreNotShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		var all []<-chan outcome
		for _, request := range []memo.Request{{Bearer: "one"}, {Bearer: "two"}, {Bearer: "two", Alone: true}, {Bearer: "two", Alone: true}} {
			all = append(all, b.ask(t.Context(), request, s.work))
		}
		close(s.let)
		for _, done := range all {
			if got := <-done; got != (outcome{body: "made", origin: memo.Stored}) {
				t.Errorf("the result is %+v", got)
			}
		}
		if s.begun != len(all) {
			t.Errorf("the result was computed %d times, want %d", s.begun, len(all))
		}
		b.expect(memo.Request{Bearer: "three"}, "kept", memo.Hit)
		b.expect(memo.Request{Alone: true}, "kept", memo.Hit)
	})
}

// A computation ends at its first caller's deadline. All get its own error, with what it noted.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		minute, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, waiting := range []<-chan outcome{b.ask(minute, memo.Request{}, s.work), b.ask(t.Context(), memo.Request{}, s.work)} {
			if got := <-waiting; !errors.Is(s.ended, context.DeadlineExceeded) || got.note != "so far" || fault.CodeOf(got.err) != fault.Timeout {
				t.Errorf("a caller got %+v, the computation %v", got, s.ended)
			}
		}
	})
}

// A panic fails every caller that waits for the computation.
func TestAPanicFailsAllWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, let := newBed(t), make(chan struct{})
		var all []<-chan outcome
		for range 10 {
			all = append(all, b.ask(t.Context(), memo.Request{}, func(context.Context) (memo.Made, error) {
				<-let
				panic("broken")
			}))
		}
		close(let)
		for i, done := range all {
			if got := <-done; fault.CodeOf(got.err) != fault.Internal || got.body != "" {
				t.Errorf("request %d returned %+v, want an internal error", i, got)
			}
		}
		b.expect(memo.Request{}, "result 1", memo.Stored)
	})
}
