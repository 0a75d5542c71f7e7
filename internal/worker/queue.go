package worker

import (
	"context"
	"time"

	"tasklens/internal/rescue"
	"tasklens/internal/wait"
)

// Every call that claims or releases jobs continues when the worker stops: otherwise jobs would
// stay claimed until their lease expires.
const callTimeout = 10 * time.Second

// claimed is the result of one call to claim jobs.
type claimed struct {
	LeaseID        string   `json:"lease_id"`
	Jobs           []job    `json:"jobs"`
	NextDueSeconds *float64 `json:"next_due_seconds"` // nil: the queue is empty
}

type job struct {
	JobID    int64 `json:"job_id"`
	SourceID int64 `json:"source_id"`
	Attempt  int   `json:"attempt"` // 1 the first time
}

func (w *Worker) call(ctx context.Context, function string, arguments map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return rescue.Do(func() error { return w.db.Call(ctx, function, arguments, result) })
}

// claim takes up to this many jobs.
func (w *Worker) claim(ctx context.Context, wanted int) (claimed, error) {
	var rows []claimed
	err := w.call(ctx, "claim_embedding_jobs", map[string]any{
		"job_limit": wanted, "lease_seconds": w.options.Lease.Seconds(), "attempt_limit": w.options.Attempts,
	}, &rows)
	if err != nil || len(rows) == 0 {
		return claimed{}, err
	}
	return rows[0], nil
}

// keep renews a lease until the returned function is called. If that fails, another worker repeats
// the work, which costs only requests.
func (w *Worker) keep(ctx context.Context, lease string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	rescue.Go(func() {
		defer close(ended)
		for wait.For(ctx, w.options.Lease/3) == nil {
			err := w.call(ctx, "extend_embedding_leases", map[string]any{"lease_ids": []string{lease}, "lease_seconds": w.options.Lease.Seconds()}, nil)
			if err != nil {
				w.options.Warn(ctx, "extend leases of embedding jobs", err)
			}
		}
	})
	return func() { cancel(); <-ended }
}

// The three ways a job leaves a worker. If a call fails, its jobs return when their lease expires.

func (w *Worker) finish(ctx context.Context, lease string, jobs []job) {
	w.end(ctx, "finish_embedding_jobs", map[string]any{"lease_id": lease}, jobs)
}

func (w *Worker) fail(ctx context.Context, lease string, jobs []job, reason error) {
	w.end(ctx, "fail_embedding_jobs", map[string]any{
		"lease_id": lease, "error": reason.Error(), "attempt_limit": w.options.Attempts, "retry_seconds": w.options.Retry.Seconds(),
	}, jobs)
}

// release returns jobs without an attempt, due after a delay; later lets the database choose it.
func (w *Worker) release(ctx context.Context, lease string, jobs []job, delay time.Duration) {
	arguments := map[string]any{"lease_id": lease}
	if delay != later {
		arguments["delay_seconds"] = delay.Seconds()
	}
	w.end(ctx, "release_embedding_jobs", arguments, jobs)
}

const later = time.Duration(-1)

func (w *Worker) end(ctx context.Context, function string, arguments map[string]any, jobs []job) {
	if len(jobs) == 0 {
		return
	}
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = j.JobID
	}
	arguments["job_ids"] = ids
	if err := w.call(ctx, function, arguments, nil); err != nil {
		w.options.Warn(ctx, "end embedding jobs", err)
	}
}
