package worker

import (
	"context"
	"errors"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
)

const (
	// batchTimeout bounds the work on one group: whoever hangs for longer lets go, and it counts as a failure.
	batchTimeout = 5 * time.Minute
	// limitedPause is how long a provider is left alone that limits us and does not say for how long.
	limitedPause = 5 * time.Second
)

// work does what was taken, and lets go of all of it.
func (w *Worker) work(ctx context.Context, taken claimed) {
	w.leases.add(taken.LeaseID)
	defer w.leases.remove(taken.LeaseID)
	rest := taken.Jobs
	for len(rest) > 0 {
		var group []job
		group, rest = next(rest, w.options.Batch)
		if !w.group(ctx, taken.LeaseID, group) {
			w.release(ctx, taken.LeaseID, rest, w.brake.left(ctx))
			return
		}
	}
}

// next takes the first group off: neighbours of the same attempt. What failed together is tried again in ever smaller
// groups, so that a source that cannot be embedded fails alone in the end.
func next(jobs []job, batch int) (group, rest []job) {
	size := batch
	for range min(jobs[0].Attempt-1, 3) {
		size = max(1, size/4)
	}
	if jobs[0].Attempt > 3 {
		size = 1
	}
	n := 1
	for n < len(jobs) && n < size && jobs[n].Attempt == jobs[0].Attempt {
		n++
	}
	return jobs[:n], jobs[n:]
}

// group brings the sources of some jobs in step, ends or gives back the jobs, and tells whether to go on with others.
func (w *Worker) group(ctx context.Context, lease string, jobs []job) bool {
	sources := make([]index.Source, len(jobs))
	for i, j := range jobs {
		sources[i] = j.toIndex()
	}
	ctx, end := w.options.Watch(ctx, len(jobs))
	bounded, cancel := context.WithTimeout(ctx, batchTimeout)
	done, err := w.indexer.Sync(bounded, w.db, sources)
	cancel()
	var ended, left []job
	for i, j := range jobs {
		if done[i] {
			ended = append(ended, j)
		} else {
			left = append(left, j)
		}
	}
	defer func() { end(len(ended), err) }()
	w.finish(ctx, lease, ended)
	if ctx.Err() != nil {
		w.release(ctx, lease, left, 0)
		return false
	}
	if err == nil {
		w.brake.loosen()
		w.release(ctx, lease, left, later)
		return true
	}
	w.warn(ctx, "embed what was edited", err)
	var failure *fault.Error
	if errors.As(err, &failure) && failure.Code == fault.Unavailable {
		// A limit is waiting and no failure, and so is a database that is away.
		pause := failure.RetryAfter
		if pause <= 0 {
			pause = limitedPause
		}
		w.brake.hold(pause)
		w.release(ctx, lease, left, pause)
		return false
	}
	w.fail(ctx, lease, left, err)
	return w.brake.failed()
}
