package memo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/memo"
)

// slow is a computation that lasts until it is released or its context ends.
type slow struct {
	begun  int
	let    chan struct{}
	ended  error // the context's, if that ended first
	events []string
}

func newSlow(events ...string) *slow { return &slow{let: make(chan struct{}), events: events} }

func (s *slow) work(ctx context.Context, tell func(memo.Event) error) (memo.Made, error) {
	s.begun++
	for _, name := range s.events {
		if tell != nil && tell(memo.Event{Name: name}) != nil {
			return memo.Made{}, errors.New("the event was rejected")
		}
	}
	select {
	case <-s.let:
		return memo.Made{Body: []byte("made"), Keep: []byte("kept")}, nil
	case <-ctx.Done():
		s.ended = ctx.Err()
		return memo.Made{}, fault.Wrap(fault.Timeout, "The work ended.", ctx.Err())
	}
}

// outcome is the result of a request.
type outcome struct {
	body   string
	origin memo.Origin
	err    error
}

// ask starts a request in the background.
func (b *bed) ask(ctx context.Context, tell func(memo.Event) error, work memo.Work) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		made, origin, err := b.Do(ctx, b.db, memo.Request{}, tell, work)
		done <- outcome{string(made.Body), origin, err}
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
			all = append(all, b.ask(t.Context(), nil, s.work))
		}
		close(s.let)
		for i, done := range all {
			want := outcome{"made", memo.Shared, nil}
			if i == 0 {
				want.origin = memo.Stored
			}
			if got := <-done; got != want {
				t.Errorf("request %d returned %+v, want %+v", i, got, want)
			}
		}
		if s.begun != 1 || b.Counts()[""] != (memo.Counts{Misses: 1, Shared: 49}) {
			t.Errorf("the result was computed %d times, the counts are %+v", s.begun, b.Counts())
		}
		if got := <-b.ask(t.Context(), nil, s.work); got != (outcome{"kept", memo.Hit, nil}) {
			t.Errorf("the next request returned %+v, want a cache hit", got)
		}
	})
}

// A request does not use a computation under another caller's token, which may expire first; the
// cached result serves both.
func TestCallersDoNotShareTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		done := make(chan outcome, 2)
		for _, bearer := range []string{"one", "two"} {
			go func() {
				made, origin, err := b.Do(t.Context(), b.db, memo.Request{Identity: "both", Bearer: bearer}, nil, s.work)
				done <- outcome{string(made.Body), origin, err}
			}()
			synctest.Wait()
		}
		close(s.let)
		for range 2 {
			if got := <-done; got != (outcome{"made", memo.Stored, nil}) {
				t.Errorf("the result is %+v", got)
			}
		}
		if s.begun != 2 {
			t.Errorf("the result was computed %d times, want 2", s.begun)
		}
		b.expect(memo.Request{Identity: "both", Bearer: "three"}, "kept", memo.Hit)
	})
}

// A request after an edit does not get a result that was started before it.
func TestComputationsFromBeforeAnEditAreNotJoined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, before, after := newBed(t), newSlow(), newSlow()
		first := b.ask(t.Context(), nil, before.work)
		b.db.set(0, "moved")
		second := b.ask(t.Context(), nil, after.work)
		close(after.let)
		if got := <-second; got.origin != memo.Stored || after.begun != 1 {
			t.Errorf("the second request returned %+v and was computed %d times", got, after.begun)
		}
		close(before.let)
		<-first
	})
}

// A computation runs while anybody waits for it, and is cancelled when the last waiter leaves.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		firstContext, firstLeaves := context.WithCancel(t.Context())
		secondContext, secondLeaves := context.WithCancel(t.Context())
		first, second := b.ask(firstContext, nil, s.work), b.ask(secondContext, nil, s.work)
		firstLeaves()
		if got := <-first; fault.CodeOf(got.err) != fault.Timeout {
			t.Errorf("the caller that left got %+v", got)
		}
		synctest.Wait()
		if s.ended != nil {
			t.Fatalf("the computation ended when its first caller left: %v", s.ended)
		}
		secondLeaves()
		<-second
		if !errors.Is(s.ended, context.Canceled) {
			t.Errorf("the computation did not end when its last caller left: %v", s.ended)
		}
		// A finished computation is not joined.
		again := newSlow()
		close(again.let)
		if got := <-b.ask(t.Context(), nil, again.work); got.origin != memo.Stored {
			t.Errorf("the next request returned %+v, want a new computation", got)
		}
	})
}

// A computation has its first caller's deadline, and each waiter its own.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow()
		started := time.Now()
		minute, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		second, cancelSecond := context.WithTimeout(t.Context(), time.Second)
		defer cancelSecond()
		first, hurried := b.ask(minute, nil, s.work), b.ask(second, nil, s.work)
		if got := <-hurried; fault.CodeOf(got.err) != fault.Timeout || time.Since(started) != time.Second {
			t.Errorf("the caller with a timeout of 1 s got %+v after %v", got, time.Since(started))
		}
		if got := <-first; time.Since(started) != time.Minute || !errors.Is(s.ended, context.DeadlineExceeded) || got.err == nil {
			t.Errorf("after %v the caller with a timeout of 1 min got %+v, the computation %v", time.Since(started), got, s.ended)
		}
	})
}

// A caller who joins receives all events from the beginning; a slow reader delays nobody.
func TestEveryCallerGetsAllEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := newBed(t), newSlow("one", "two", "three")
		read := make(chan struct{})
		heard := make([][]string, 3)
		hear := func(i int, until <-chan struct{}) func(memo.Event) error {
			return func(e memo.Event) error {
				if until != nil {
					<-until
				}
				heard[i] = append(heard[i], e.Name)
				return nil
			}
		}
		stuck := b.ask(t.Context(), hear(0, read), s.work)
		quick := b.ask(t.Context(), hear(1, nil), s.work)
		whole := b.ask(t.Context(), nil, s.work)
		leaves := b.ask(t.Context(), func(memo.Event) error { return errors.New("left") }, s.work)
		if got := <-leaves; got.err == nil || got.err.Error() != "left" {
			t.Errorf("the caller that left got %+v", got)
		}
		close(s.let)
		for name, done := range map[string]<-chan outcome{"quick": quick, "whole": whole} {
			if got := <-done; got != (outcome{"made", memo.Shared, nil}) {
				t.Errorf("the %s caller got %+v", name, got)
			}
		}
		if want := s.events; !slices.Equal(heard[1], want) || len(heard[0]) != 0 {
			t.Errorf("the events received were %q", heard)
		}
		close(read)
		if got := <-stuck; got != (outcome{"made", memo.Stored, nil}) || !slices.Equal(heard[0], s.events) {
			t.Errorf("the slow reader got %+v and received the events %q", got, heard[0])
		}
		if got := <-b.ask(t.Context(), hear(2, nil), s.work); got.origin != memo.Hit || heard[2] != nil {
			t.Errorf("the next request returned %+v and the events %q, want a cache hit", got, heard[2])
		}
	})
}

// A streaming caller gets events at once, even while the same result is computed for a caller
// without events.
func TestEventsDoNotWaitForAPlainRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, silent, telling := newBed(t), newSlow("one"), newSlow("one")
		var heard []string
		hear := func(e memo.Event) error {
			heard = append(heard, e.Name)
			return nil
		}
		whole := b.ask(t.Context(), nil, silent.work)
		events := b.ask(t.Context(), hear, telling.work)
		if !slices.Equal(heard, telling.events) {
			t.Errorf("before the computation continued the events %q were received", heard)
		}
		// The end of the earlier computation takes nothing from new callers, with or without events.
		close(silent.let)
		if got := <-whole; got != (outcome{"made", memo.Stored, nil}) {
			t.Errorf("the first caller got %+v", got)
		}
		late := []<-chan outcome{b.ask(t.Context(), nil, telling.work), b.ask(t.Context(), hear, telling.work)}
		close(telling.let)
		if got := <-events; got != (outcome{"made", memo.Stored, nil}) {
			t.Errorf("the caller with events got %+v", got)
		}
		for i, done := range late {
			if got := <-done; got != (outcome{"made", memo.Shared, nil}) {
				t.Errorf("late request %d got %+v", i, got)
			}
		}
		if silent.begun != 1 || telling.begun != 1 || len(heard) != 2 {
			t.Errorf("the results were computed %d and %d times, the events %q were received", silent.begun, telling.begun, heard)
		}
	})
}

// Nobody joins a computation that was cancelled, however long it takes to end.
func TestCancelledComputationsAreNotJoined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, let := newBed(t), make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		left := b.ask(ctx, nil, func(context.Context, func(memo.Event) error) (memo.Made, error) {
			<-let
			return memo.Made{}, errors.New("ended")
		})
		leave()
		synctest.Wait()
		quick := newSlow()
		close(quick.let)
		next := b.ask(t.Context(), nil, quick.work)
		close(let)
		if got := <-next; got != (outcome{"made", memo.Stored, nil}) {
			t.Errorf("the next request returned %+v", got)
		}
		if got := <-left; got.err == nil {
			t.Errorf("the caller that left got %+v, want an error", got)
		}
	})
}

// The last events are delivered even if the computation has ended.
func TestTheLastEvents(t *testing.T) {
	t.Parallel()
	for range 30 { // the order in which the two are noticed is arbitrary
		synctest.Test(t, func(t *testing.T) {
			b, read, more := newBed(t), make(chan struct{}), make(chan struct{})
			var heard []string
			done := b.ask(t.Context(), func(e memo.Event) error {
				<-read
				heard = append(heard, e.Name)
				return nil
			}, func(_ context.Context, tell func(memo.Event) error) (memo.Made, error) {
				err := tell(memo.Event{Name: "first"})
				<-more
				return memo.Made{}, errors.Join(err, tell(memo.Event{Name: "last"}))
			})
			close(more)
			synctest.Wait()
			close(read)
			if got := <-done; got.err != nil || !slices.Equal(heard, []string{"first", "last"}) {
				t.Errorf("the events received were %q, then %+v", heard, got)
			}
		})
	}
}

// In whatever order callers come and leave, nobody waits forever, and nobody gets another request's
// result.
func TestCallersInAnyOrder(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	done := make(chan error, 200)
	for i := range 200 {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			made, _, err := b.Do(ctx, b.db, memo.Request{Subject: i % 5}, nil, func(ctx context.Context, _ func(memo.Event) error) (memo.Made, error) {
				select {
				case <-time.After(time.Duration(i%11) * time.Millisecond):
					return memo.Made{Body: []byte(fmt.Sprint(i % 5))}, nil
				case <-ctx.Done():
					return memo.Made{}, ctx.Err()
				}
			})
			if err == nil && string(made.Body) != fmt.Sprint(i%5) {
				err = fmt.Errorf("request %d got %q", i, made.Body)
			} else {
				err = nil
			}
			done <- err
		}()
	}
	for range 200 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A panic fails every caller that waits for the computation.
func TestAPanicFailsAllWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, let := newBed(t), make(chan struct{})
		var all []<-chan outcome
		for range 10 {
			all = append(all, b.ask(t.Context(), nil, func(context.Context, func(memo.Event) error) (memo.Made, error) {
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
