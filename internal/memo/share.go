package memo

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

// lastMoment is how long a caller waits after its deadline for work that ends at the same time and
// with an error that says more.
const lastMoment = 100 * time.Millisecond

// work computes a result.
type work func(ctx context.Context) (Made, Origin, error)

// share does work once for all concurrent callers of a key. The work has the first caller's context
// values, but a deadline of its own: others may still wait when that caller leaves.
func share(ctx context.Context, running *singleflight.Group, key string, deadline time.Time, work work) (Made, Origin, error) {
	type result struct {
		made   Made
		origin Origin
	}
	first := false // written before the result comes, read after it
	came := running.DoChan(key, func() (_ any, err error) {
		first = true
		ctx, end := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer end()
		var r result
		err = rescue.Do(func() (err error) {
			r.made, r.origin, err = work(ctx)
			return err
		})
		return r, err
	})
	var ended singleflight.Result
	select {
	case ended = <-came:
	case <-ctx.Done():
		if time.Now().Before(deadline) {
			return Made{}, Passed, tooLate(ctx)
		}
		select {
		case ended = <-came:
		case <-time.After(lastMoment):
			return Made{}, Passed, tooLate(ctx)
		}
	}
	r := ended.Val.(result)
	if !first && ended.Err == nil && r.origin != Hit {
		r.origin = Shared
	}
	return r.made, r.origin, ended.Err
}

func tooLate(ctx context.Context) error {
	return fault.Wrap(fault.Timeout, "The request took too long.", context.Cause(ctx))
}
