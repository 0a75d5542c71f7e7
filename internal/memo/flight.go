package memo

import (
	"context"
	"errors"
	"sync"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

// flights are the results that are being made, by key. Unlike golang.org/x/sync/singleflight it
// lets a result be made on when the first who asked has left, as long as anybody waits, and lets
// all who wait hear of it piece by piece.
type flights struct {
	mutex   sync.Mutex
	running map[string]*flight
	// Of work that is worth finishing for the next request.
	lifetime time.Duration // of a flight, however many wait; 0: that of the request that came first
	late     chan struct{} // has a place for each flight that nobody had the time to wait for; nil: such flights end
}

func newFlights() flights { return flights{running: map[string]*flight{}} }

// newLateFlights are flights that go on when the time of all who waited is over: so many at once,
// each for its lifetime. A flight whose last waiter is cancelled ends all the same.
func newLateFlights(lifetime time.Duration, most int) flights {
	return flights{running: map[string]*flight{}, lifetime: lifetime, late: make(chan struct{}, most)}
}

// flight is a result while it is made.
type flight struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  bool // are told: the first who asked wants them
	waiting int  // guarded by flights.mutex, as late
	late    bool // goes on without anybody

	ended  chan struct{}
	made   Made // once it has ended, as the rest
	origin Origin
	err    error

	mutex sync.Mutex
	told  []Event
	more  chan struct{} // closed, and made anew, with each event
}

type makeResult func(ctx context.Context, tell func(Event) error) (Made, Origin, error)

// do waits for the result of a key, which is made once for all who wait for it.
func (f *flights) do(ctx context.Context, key string, tell func(Event) error, work makeResult) (Made, Origin, error) {
	joined, first := f.join(ctx, key, tell != nil, work)
	made, origin, err := f.await(ctx, key, joined, tell)
	if !first && err == nil && origin != Hit {
		origin = Shared
	}
	return made, origin, err
}

// join has a result made, unless it is being made. The work has the time and the values of the
// request that came first. Who wants events does not wait for work that tells none, which is silent
// to its end; the flight begun for them takes over the key, for whoever comes next.
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

// forget keeps a flight from being joined.
func (f *flights) forget(key string, gone *flight) {
	if f.running[key] == gone {
		delete(f.running, key)
	}
}

// close ends all flights.
func (f *flights) close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, running := range f.running {
		running.cancel(nil)
	}
}

// await hears a flight to its end, or leaves it when the caller's time is over. Who leaves last
// ends it, unless it may be late.
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

// leave says whether the flight ends because nobody waits any more. One whose time is over ends by
// itself, and says so better than one that is cancelled.
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

// goesOn tells whether a flight that nobody waits for is late: their time is over, and there is a
// place for it.
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

// tell is what the work tells its events to. It never waits: a caller that reads slowly holds
// nobody up.
func (f *flight) tell(event Event) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.told = append(f.told, event)
	close(f.more)
	f.more = make(chan struct{})
	return nil
}

// since gives the events after the first so many, and what ends when there is another.
func (f *flight) since(heard int) ([]Event, <-chan struct{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.told[heard:], f.more
}
