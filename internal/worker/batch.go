package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/rescue"
)

// limitedPause is the pause after a provider's rate limit without a Retry-After.
const limitedPause = 5 * time.Second

// work processes the claimed jobs and releases all of them.
func (w *Worker) work(ctx context.Context, taken claimed) {
	if len(taken.Jobs) == 0 {
		return
	}
	defer w.keep(ctx, taken.LeaseID)()
	var together, alone []job
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
	w.release(ctx, taken.LeaseID, alone, delay)
}

// group brings the sources of some jobs in step, ends or releases the jobs, and reports whether to
// continue. In a group of several it leaves out large sources.
func (w *Worker) group(ctx context.Context, lease string, jobs []job) (large []job, goOn bool) {
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
	var ended, left []job
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
			w.fail(ctx, lease, []job{j}, outcomes[i])
		}
	}
	defer func() { end(len(ended), errors.Join(causes...)) }()
	w.finish(ctx, lease, ended)
	if ctx.Err() != nil {
		w.release(ctx, lease, left, 0)
		return large, false
	}
	if err == nil {
		w.release(ctx, lease, left, later)
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
		w.release(ctx, lease, left, pause)
		return large, false
	}
	w.fail(ctx, lease, left, err)
	w.brake.failed()
	return large, false
}
