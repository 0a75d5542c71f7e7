package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/queue"
	"tasklens/internal/rescue"
)

// limitedPause is the pause after a provider's rate limit without a Retry-After.
const limitedPause = 5 * time.Second

// work processes the claimed jobs, releases all of them, and returns how long to pause.
func (w *Worker) work(ctx context.Context, taken queue.Claimed) (pause time.Duration) {
	if len(taken.Jobs) == 0 {
		return 0
	}
	defer w.jobs.Keep(ctx, taken.LeaseID)()
	var together, alone []queue.Job
	for _, j := range taken.Jobs {
		if j.Attempt > 1 { // another's text may have failed it, as one that the provider crashes on does
			alone = append(alone, j)
		} else {
			together = append(together, j)
		}
	}
	large, pause := w.group(ctx, taken.LeaseID, together)
	alone = append(alone, large...) // last, so that no other job stays open that long
	for ; pause == 0 && ctx.Err() == nil && len(alone) > 0; alone = alone[1:] {
		_, pause = w.group(ctx, taken.LeaseID, alone[:1])
	}
	w.jobs.Release(ctx, taken.LeaseID, pause, "", alone...)
	return pause
}

// group brings the sources of some jobs in step, ends or releases the jobs, and returns how long to
// pause after a failure. In a group of several it leaves out large sources.
func (w *Worker) group(ctx context.Context, lease string, jobs []queue.Job) (large []queue.Job, pause time.Duration) {
	if len(jobs) == 0 {
		return nil, 0
	}
	sources := make([]int64, len(jobs))
	for i, j := range jobs {
		sources[i] = j.SourceID
	}
	ctx, end := w.options.Watch(ctx, len(jobs))
	outcomes := slices.Repeat([]error{index.ErrUndone}, len(jobs))
	err := rescue.Do(func() error {
		told, err := w.indexer.Sync(ctx, w.db, sources)
		copy(outcomes, told)
		return err
	})
	var ended, left []queue.Job
	causes := []error{err}
	for i, j := range jobs {
		switch {
		case outcomes[i] == nil:
			ended = append(ended, j)
		case errors.Is(outcomes[i], index.ErrLarge):
			large = append(large, j)
		case errors.Is(outcomes[i], index.ErrUndone) || ctx.Err() != nil:
			left = append(left, j)
		default:
			causes = append(causes, outcomes[i])
			w.options.Warn(ctx, "embed what was edited", outcomes[i])
			w.jobs.Fail(ctx, lease, outcomes[i].Error(), j)
		}
	}
	defer func() { end(len(ended), errors.Join(causes...)) }()
	w.jobs.Finish(ctx, lease, ended...)
	if ctx.Err() != nil {
		w.jobs.Release(ctx, lease, 0, "", left...)
		return large, 0
	}
	failed := err == nil && len(causes) > 1 && len(ended) == 0
	if err == nil {
		w.jobs.Release(ctx, lease, queue.Later, "", left...)
	} else {
		w.options.Warn(ctx, "embed what was edited", err)
		if pause, why := delayOf(err); pause > 0 {
			w.jobs.Release(ctx, lease, pause, why, left...)
			return large, pause
		}
		w.jobs.Fail(ctx, lease, err.Error(), left...)
		failed = true
	}
	if w.failing.Store(failed); failed {
		pause = w.options.Retry
	}
	return large, pause
}

// delayOf is how long, and why, an error delays its jobs without using up an attempt: a rate limit,
// an empty account, a refused key, an open circuit breaker and an unreachable database say nothing
// about them. 0: it is a failure.
func delayOf(err error) (pause time.Duration, why fault.Reason) {
	failure, is := errors.AsType[*fault.Error](err)
	switch {
	case is && failure.RetryAfter > 0:
		return failure.RetryAfter, failure.Reason
	case is && failure.Code == fault.Unavailable:
		return limitedPause, failure.Reason
	}
	return 0, ""
}
