package memo

import (
	"context"
	"errors"
	"sync"

	"tasklens/internal/fault"
)

// flights are the results that are being made, by key. Unlike golang.org/x/sync/singleflight it lets a result be made on
// when the first who asked has left, as long as anybody waits, and lets all who wait hear of it piece by piece.
type flights struct {
	mutex   sync.Mutex
	running map[string]*flight
}

func newFlights() flights { return flights{running: map[string]*flight{}} }

// flight is a result while it is made.
type flight struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  bool // are told: the first who asked wants them
	waiting int  // guarded by flights.mutex

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

// join has a result made, unless it is being made. The work has the time and the values of the request that came first.
// Who wants events does not wait for work that tells none, which is silent to its end; the flight begun for them takes
// over the key, for whoever comes next.
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
	if deadline, is := ctx.Deadline(); is {
		own, end = context.WithDeadline(own, deadline)
	}
	started.ctx, started.cancel = context.WithCancelCause(own)
	var tell func(Event) error
	if events {
		tell = started.tell
	}
	go func() {
		started.made, started.origin, started.err = safely(started.ctx, tell, work)
		f.mutex.Lock()
		f.forget(key, started)
		f.mutex.Unlock()
		end()
		started.cancel(nil)
		close(started.ended)
	}()
	return started, true
}

// safely makes a panic an error: on a goroutine of its own it would end the process.
func safely(ctx context.Context, tell func(Event) error, work makeResult) (made Made, origin Origin, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault.Recovered(r)
		}
	}()
	return work(ctx, tell)
}

// forget keeps a flight from being joined.
func (f *flights) forget(key string, gone *flight) {
	if f.running[key] == gone {
		delete(f.running, key)
	}
}

// await hears a flight to its end, or leaves it when the caller's time is over. Who leaves last ends it.
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

// leave says whether nobody waits any more; then the flight is ended. One whose time is over ends by itself, and says so
// better than one that is cancelled.
func (f *flights) leave(ctx context.Context, key string, left *flight) (last bool) {
	f.mutex.Lock()
	left.waiting--
	if last = left.waiting == 0; last {
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

// tell is what the work tells its events to. It never waits: a caller that reads slowly holds nobody up.
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
