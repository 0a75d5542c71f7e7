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

// work processes the claimed jobs and releases all of them.
func (w *Worker) work(ctx context.Context, taken queue.Claimed) {
	if len(taken.Jobs) == 0 {
		return
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
	large, goOn := w.group(ctx, taken.LeaseID, together)
	alone = append(alone, large...) // last, so that no other job stays open that long
	for ; goOn && len(alone) > 0; alone = alone[1:] {
		_, goOn = w.group(ctx, taken.LeaseID, alone[:1])
	}
	delay := w.brake.left()
	if ctx.Err() != nil {
		delay = 0
	}
	w.jobs.Release(ctx, taken.LeaseID, delay, alone...)
}

// group brings the sources of some jobs in step, ends or releases the jobs, and reports whether to
// continue. In a group of several it leaves out large sources.
func (w *Worker) group(ctx context.Context, lease string, jobs []queue.Job) (large []queue.Job, goOn bool) {
	if len(jobs) == 0 {
		return nil, true
	}
	sources := make([]index.Source, len(jobs))
	for i, j := range jobs {
		sources[i] = index.Source{ID: j.SourceID}
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
		w.jobs.Release(ctx, lease, 0, left...)
		return large, false
	}
	if err == nil {
		w.jobs.Release(ctx, lease, queue.Later, left...)
		if len(causes) > 1 && len(ended) == 0 {
			w.brake.failed()
			return large, false
		}
		w.brake.loosen()
		return large, true
	}
	w.options.Warn(ctx, "embed what was edited", err)
	if failure, is := errors.AsType[*fault.Error](err); is && failure.Code == fault.Unavailable {
		// A rate limit is a delay, not a failure, and so is an unreachable database.
		pause := failure.RetryAfter
		if pause <= 0 {
			pause = limitedPause
		}
		w.brake.hold(pause)
		w.jobs.Release(ctx, lease, pause, left...)
		return large, false
	}
	w.jobs.Fail(ctx, lease, err.Error(), left...)
	w.brake.failed()
	return large, false
}
