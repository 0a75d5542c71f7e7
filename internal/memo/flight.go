package memo

import (
	"context"
	"errors"
	"sync"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

// flights are the results in progress, by key. Unlike golang.org/x/sync/singleflight, a flight
// continues after its first caller leaves, as long as anyone waits, and streams its events to all.
type flights struct {
	mutex   sync.Mutex
	running map[string]*flight
	// For work whose result the next request can use.
	lifetime time.Duration // limit of a flight, however many wait; 0: the deadline of the first request
	late     chan struct{} // a slot for each flight that outlasts its waiters; nil: such flights end
}

func newFlights() flights { return flights{running: map[string]*flight{}} }

// newLateFlights returns flights that continue after the deadlines of their waiters, up to most at
// once, each for its lifetime. A flight whose last waiter is cancelled still ends.
func newLateFlights(lifetime time.Duration, most int) flights {
	return flights{running: map[string]*flight{}, lifetime: lifetime, late: make(chan struct{}, most)}
}

// flight is a result in progress.
type flight struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  bool // events are sent, because the first caller wants them
	waiting int  // guarded by flights.mutex, like late
	late    bool // continues without a waiter

	ended  chan struct{}
	made   Made // valid once ended is closed, like the fields below
	origin Origin
	err    error

	mutex sync.Mutex
	told  []Event
	more  chan struct{} // closed and replaced on each event
}

type makeResult func(ctx context.Context, tell func(Event) error) (Made, Origin, error)

// do waits for the result of a key, computed once for all concurrent callers.
func (f *flights) do(ctx context.Context, key string, tell func(Event) error, work makeResult) (Made, Origin, error) {
	joined, first := f.join(ctx, key, tell != nil, work)
	made, origin, err := f.await(ctx, key, joined, tell)
	if !first && err == nil && origin != Hit {
		origin = Shared
	}
	return made, origin, err
}

// join starts work for a key or joins a running flight. Work inherits the values and deadline of
// the first request. A caller that wants events does not join a flight without events; it starts
// one of its own, which later callers join.
func (f *flights) join(ctx context.Context, key string, events bool, work makeResult) (joined *flight, first bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if running, is := f.running[key]; is && (running.events || !events) {
		running.waiting++
		return running, false
	}
	started := &flight{events: events, waiting: 1, ended: make(chan struct{}), more: make(chan struct{})}
	f.running[key] = started
	own, end := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if deadline, is := ctx.Deadline(); f.lifetime > 0 {
		own, end = context.WithTimeout(own, f.lifetime)
	} else if is {
		own, end = context.WithDeadline(own, deadline)
	}
	started.ctx, started.cancel = context.WithCancelCause(own)
	var tell func(Event) error
	if events {
		tell = started.tell
	}
	go func() {
		started.err = rescue.Do(func() (err error) {
			started.made, started.origin, err = work(started.ctx, tell)
			return err
		})
		f.mutex.Lock()
		f.forget(key, started)
		if started.late {
			<-f.late
		}
		f.mutex.Unlock()
		end()
		started.cancel(nil)
		close(started.ended)
	}()
	return started, true
}

// forget prevents further callers from joining a flight.
func (f *flights) forget(key string, gone *flight) {
	if f.running[key] == gone {
		delete(f.running, key)
	}
}

// close cancels all flights.
func (f *flights) close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, running := range f.running {
		running.cancel(nil)
	}
}

// await follows a flight to its end, or leaves it when ctx is done. The last to leave cancels it,
// unless it may continue late.
func (f *flights) await(ctx context.Context, key string, joined *flight, tell func(Event) error) (Made, Origin, error) {
	heard := 0
	for {
		told, more := joined.since(heard)
		for _, event := range told {
			if tell == nil {
				break
			}
			if err := tell(event); err != nil {
				if f.leave(ctx, key, joined) {
					<-joined.ended
					return joined.made, joined.origin, err
				}
				return Made{}, Passed, err
			}
		}
		heard += len(told)
		select {
		case <-more:
		case <-joined.ended:
			if rest, _ := joined.since(heard); tell == nil || len(rest) == 0 {
				return joined.made, joined.origin, joined.err
			}
		case <-ctx.Done():
			if f.leave(ctx, key, joined) {
				<-joined.ended
				return joined.made, joined.origin, joined.err
			}
			return Made{}, Passed, fault.Wrap(fault.Timeout, "The request took too long.", context.Cause(ctx))
		}
	}
}

// leave reports whether the flight ends because its last waiter left. A flight whose deadline has
// passed ends by itself, with a better error.
func (f *flights) leave(ctx context.Context, key string, left *flight) (last bool) {
	f.mutex.Lock()
	left.waiting--
	if last = left.waiting == 0 && !f.goesOn(ctx, key, left); last {
		f.forget(key, left)
	}
	f.mutex.Unlock()
	if !last {
		return false
	}
	mine, _ := ctx.Deadline()
	its, _ := left.ctx.Deadline()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) || its.After(mine) {
		left.cancel(context.Cause(ctx))
	}
	return true
}

// goesOn reports whether a flight that nobody waits for continues: its waiters' deadlines have
// passed, and a slot is free.
func (f *flights) goesOn(ctx context.Context, key string, left *flight) bool {
	if left.late || f.running[key] != left || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return left.late
	}
	select {
	case f.late <- struct{}{}:
		left.late = true
	default:
	}
	return left.late
}

// tell receives the events of the work. It never blocks, so a slow reader delays nobody.
func (f *flight) tell(event Event) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.told = append(f.told, event)
	close(f.more)
	f.more = make(chan struct{})
	return nil
}

// since returns the events from the given one on, and a channel that closes on the next event.
func (f *flight) since(heard int) ([]Event, <-chan struct{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.told[heard:], f.more
}
