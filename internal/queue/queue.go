// Package queue claims jobs from the queue in the database and ends them. It owns the lease: that
// it is kept while work goes on, and that every call which ends a job has a deadline. The queue
// with its order and delays belongs to the database.
package queue

import (
	"context"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
	"tasklens/internal/wait"
)

// Every call that claims or ends jobs continues when its caller stops: otherwise jobs would stay
// claimed until their lease expires.
const callTimeout = 10 * time.Second

// Kinds of jobs.
const (
	Embed  = "embed"
	Enrich = "enrich"
)

// Queue is the jobs of one kind.
type Queue struct {
	DB       rpc.Caller
	Kind     string
	Lease    time.Duration // how long jobs of a dead worker stay claimed
	Attempts int           // before a job is given up
	Retry    time.Duration // after the first failure, doubling each time
	// Warn is called with failures, from several goroutines.
	Warn func(ctx context.Context, message string, err error)
}

// Claimed is the jobs of one lease.
type Claimed struct {
	LeaseID        string   `json:"lease_id"`
	Jobs           []Job    `json:"jobs"`
	NextDueSeconds *float64 `json:"next_due_seconds"` // nil: no other job waits
}

// Job is a source to work on.
type Job struct {
	ID         int64  `json:"job_id"`
	SourceID   int64  `json:"source_id"`
	DocumentID string `json:"document_id"` // "" if the source is no document
	Attempt    int    `json:"attempt"`     // 1 the first time
}

func (q *Queue) call(ctx context.Context, function string, arguments map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return rescue.Do(func() error { return q.DB.Call(ctx, function, arguments, result) })
}

// Claim takes up to this many jobs.
func (q *Queue) Claim(ctx context.Context, wanted int) (Claimed, error) {
	var rows []Claimed
	err := q.call(ctx, "claim_embedding_jobs", map[string]any{
		"job_limit": wanted, "lease_seconds": q.Lease.Seconds(), "attempt_limit": q.Attempts, "kind": q.Kind,
	}, &rows)
	if err != nil || len(rows) == 0 {
		return Claimed{}, err
	}
	return rows[0], nil
}

// Keep renews a lease until the returned function is called. If that fails, another worker repeats
// the work, which costs only requests.
func (q *Queue) Keep(ctx context.Context, lease string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	rescue.Go(func() {
		defer close(ended)
		for wait.For(ctx, q.Lease/3) == nil {
			err := q.call(ctx, "extend_embedding_leases", map[string]any{"lease_ids": []string{lease}, "lease_seconds": q.Lease.Seconds()}, nil)
			if err != nil {
				q.Warn(ctx, "extend leases of jobs", err)
			}
		}
	})
	return func() { cancel(); <-ended }
}

// The three ways a job ends. If a call fails, its jobs return when their lease expires.

// Finish ends jobs that are done.
func (q *Queue) Finish(ctx context.Context, lease string, jobs ...Job) {
	q.end(ctx, "finish_embedding_jobs", map[string]any{"lease_id": lease}, jobs)
}

// Fail uses up an attempt of jobs. The reason is stored.
func (q *Queue) Fail(ctx context.Context, lease, reason string, jobs ...Job) {
	q.end(ctx, "fail_embedding_jobs", map[string]any{
		"lease_id": lease, "error": reason, "attempt_limit": q.Attempts, "retry_seconds": q.Retry.Seconds(),
	}, jobs)
}

// Later lets the database choose the delay of released jobs.
const Later = time.Duration(-1)

// Release returns jobs without an attempt, due after a delay. The reason, if there is one, is
// stored.
func (q *Queue) Release(ctx context.Context, lease string, delay time.Duration, reason fault.Reason, jobs ...Job) {
	arguments := map[string]any{"lease_id": lease}
	if reason != "" {
		arguments["reason"] = reason
	}
	if delay != Later {
		arguments["delay_seconds"] = delay.Seconds()
	}
	q.end(ctx, "release_embedding_jobs", arguments, jobs)
}

func (q *Queue) end(ctx context.Context, function string, arguments map[string]any, jobs []Job) {
	if len(jobs) == 0 {
		return
	}
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	arguments["job_ids"] = ids
	if err := q.call(ctx, function, arguments, nil); err != nil {
		q.Warn(ctx, "end jobs", err)
	}
}
