package enrich

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/fault"
	"tasklens/internal/queue"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
)

const (
	// storeTimeout bounds storing a result, which goes on after the batch's deadline.
	storeTimeout = 5 * time.Second
	// leaseMargin is how much longer than the batch its leases last.
	leaseMargin = 30 * time.Second
	// enough is the number of consecutive provider failures, of different documents, that stop a
	// batch.
	enough = 5
)

// Report is the result of a batch. Processed is Succeeded plus Errors. Documents that were claimed
// but not tried are released and not counted.
type Report struct {
	_ struct{} `schema:"EnrichReport"`

	Processed int       `json:"processed" min:"0" max:"100" example:"10" doc:"~succeeded~ and ~errors~ together."`
	Succeeded int       `json:"succeeded" min:"0" max:"100" example:"9"`
	Errors    []Failure `json:"errors" max:"100"`
}

// Failure is a document that was not enriched, with a reason fit for a client. It is retried later,
// unless this was its last attempt.
type Failure struct {
	ID    string `json:"id" format:"uuid"`
	Error string `json:"error" example:"The model's answer was cut off."`
}

// batch is a running batch.
type batch struct {
	*Enricher
	jobs  queue.Queue
	lease string

	mutex    sync.Mutex
	report   Report
	untried  []queue.Job // to release
	failures int         // consecutive ones of the provider
}

// Batch enriches up to size documents (1 to 100) that are due. It ends without an error at its
// deadline, which is five sixths of the time left in ctx. It ends with an error if continuing is
// pointless: the database is down, or the provider limits the rate (fault.Unavailable), rejects the
// key, or fails for several documents in a row. The report is valid in every case.
func (e *Enricher) Batch(ctx context.Context, db rpc.Caller, size int) (Report, error) {
	timeout := e.options.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)/6*5)
	}
	b := &batch{Enricher: e, report: Report{Errors: []Failure{}}, jobs: queue.Queue{
		DB: db, Kind: queue.Enrich, Lease: timeout + leaseMargin, Attempts: e.options.Attempts, Retry: e.options.Retry, Warn: e.options.Warn,
	}}
	taken, err := b.jobs.Claim(ctx, size)
	if err != nil {
		return b.report, fmt.Errorf("take documents to enrich: %w", err)
	}
	b.lease = taken.LeaseID
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx) // an error stops the batch
	group.SetLimit(e.options.Concurrency)
	for _, j := range taken.Jobs {
		group.Go(func() error {
			if b.bucket.Wait(ctx) != nil {
				return b.leave(j, nil)
			}
			return b.finish(ctx, j, rescue.Do(func() error { return b.describe(ctx, db, j.SourceID) }))
		})
	}
	err = group.Wait()
	b.jobs.Release(ctx, b.lease, publicOf(err).RetryAfter, publicOf(err).Reason, b.untried...) // due after the pause that the provider asked for
	return b.report, err
}

// finish ends the job of a document and reports it. It returns an error that concerns all others
// too.
func (b *batch) finish(ctx context.Context, j queue.Job, err error) error {
	code := fault.CodeOf(err)
	switch {
	case err == nil || errors.Is(err, errChanged): // the new text is queued
		b.jobs.Finish(ctx, b.lease, j)
	case ctx.Err() != nil: // out of time or stopped: no fault of the document
		return b.leave(j, nil)
	case code == fault.Unavailable || errors.Is(err, fault.ErrKey):
		return b.leave(j, err)
	default:
		b.jobs.Fail(ctx, b.lease, publicOf(err).Message, j)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.report.Processed++
	if err == nil {
		b.report.Succeeded++
		b.failures = 0
		return nil
	}
	b.report.Errors = append(b.report.Errors, Failure{ID: j.DocumentID, Error: publicOf(err).Message})
	b.options.Warn(ctx, "enrich document "+j.DocumentID, err)
	if errors.Is(err, errUnusable) || code != fault.Provider && code != fault.Timeout {
		b.failures = 0
		return nil
	}
	if b.failures++; b.failures >= enough {
		return err
	}
	return nil
}

// leave notes a document to release, without an attempt.
func (b *batch) leave(j queue.Job, err error) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.untried = append(b.untried, j)
	return err
}

// publicOf returns what a client may see of an error.
func publicOf(err error) *fault.Error {
	failure := &fault.Error{Message: "Something went wrong."}
	_ = errors.As(err, &failure)
	return failure
}
