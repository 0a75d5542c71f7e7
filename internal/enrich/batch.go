package enrich

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

const (
	// MaxBatch is the most documents of one batch.
	MaxBatch = 100
	// storeTimeout bounds the calls that store results. They are made even after the batch's
	// deadline: otherwise documents would stay claimed until their lease expires.
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

	Processed int       `json:"processed" min:"0" max:"100" example:"10" doc:"Documents that were attempted: ~succeeded~ and ~errors~ together."`
	Succeeded int       `json:"succeeded" min:"0" max:"100" example:"9"`
	Errors    []Failure `json:"errors" max:"100"`
}

// Failure is a document that was not enriched, with a reason fit for a client. It is retried later,
// unless this was its last attempt.
type Failure struct {
	ID    string `json:"id" format:"uuid"`
	Error string `json:"error" example:"The model's answer was cut off." doc:"Why it was not enriched."`
}

// Batch enriches up to size documents (1 to MaxBatch) that are due. It ends without an error at its
// deadline, which is five sixths of the time left in ctx. It ends with an error if continuing is
// pointless: the provider limits the rate (fault.Unavailable), rejects the key, or fails for
// several documents in a row. The report is valid in every case.
func (e *Enricher) Batch(ctx context.Context, db Database, size int) (Report, error) {
	timeout := e.options.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)/6*5)
	}
	b := &batch{Enricher: e, db: db, report: Report{Errors: []Failure{}}}
	var taken []document
	err := db.Call(ctx, "claim_enrichments", map[string]any{
		"batch_size": size, "lease_seconds": (timeout + leaseMargin).Seconds(), "attempt_limit": e.options.Attempts,
	}, &taken)
	if err != nil {
		return b.report, fmt.Errorf("take documents to enrich: %w", err)
	}
	b.ctx, b.cancel = context.WithTimeout(ctx, timeout)
	defer b.cancel()
	var working sync.WaitGroup
	for i, d := range taken {
		if e.begin(b.ctx) != nil {
			b.giveBack(taken[i:]...)
			break
		}
		working.Go(func() {
			defer func() { <-e.slots }()
			// After a panic the document is due again when its lease expires. The attempt counts.
			_ = rescue.Do(func() error {
				b.one(d)
				return nil
			})
		})
	}
	working.Wait()
	b.release()
	return b.report, b.stopped
}

// begin waits for a free slot, then for a token, so that no token is held while waiting for a slot.
func (e *Enricher) begin(ctx context.Context) error {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := e.bucket.Wait(ctx)
	if err == nil {
		err = ctx.Err() // both may have been ready
	}
	if err != nil {
		<-e.slots
	}
	return err
}

// batch is a running batch.
type batch struct {
	*Enricher
	db     Database
	ctx    context.Context
	cancel context.CancelFunc

	mutex   sync.Mutex
	report  Report
	left    []string // leases to release
	pause   time.Duration
	inARow  int   // consecutive failures of the provider
	stopped error // why the batch ended early
}

// one enriches a document and records the result in the report and in the database.
func (b *batch) one(d document) {
	said, model, err := b.describe(d)
	if err != nil && b.ctx.Err() != nil {
		b.giveBack(d) // out of time or stopped: no fault of the document
		return
	}
	if err != nil && b.hopeless(err) {
		b.giveBack(d)
		return
	}
	if err == nil {
		err = b.store(d, said, model)
	}
	if err != nil {
		b.fail(d, err)
	}
	b.count(d, err)
}

// describe is ask with a panic turned into an error, so that a bad document cannot stop the others.
func (b *batch) describe(d document) (said enrichment, model string, err error) {
	err = rescue.Do(func() (err error) {
		said, model, err = b.ask(b.ctx, d)
		return err
	})
	return said, model, err
}

// hopeless reports whether the error would affect every other document too, and if so stops the
// batch.
func (b *batch) hopeless(err error) bool {
	var failure *fault.Error
	limited := errors.As(err, &failure) && failure.Code == fault.Unavailable
	if !limited && !errors.Is(err, fault.ErrKey) {
		return false
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if limited {
		b.pause = max(b.pause, failure.RetryAfter)
	}
	b.stop(err)
	return true
}

func (b *batch) stop(err error) {
	if b.stopped == nil {
		b.stopped = err
		b.cancel()
	}
}

// count adds a tried document to the report.
func (b *batch) count(d document, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.report.Processed++
	if err == nil {
		b.report.Succeeded++
		b.inARow = 0
		return
	}
	b.report.Errors = append(b.report.Errors, Failure{ID: d.ID, Error: reason(err)})
	b.warn("enrich document "+d.ID, err)
	var answered badAnswer
	switch code := fault.CodeOf(err); {
	case code == fault.Unavailable: // the database is down: more model calls would be wasted
		b.stop(err)
	case errors.As(err, &answered) || code != fault.Provider && code != fault.Timeout:
		b.inARow = 0
	default:
		if b.inARow++; b.inARow == enough {
			b.stop(err)
		}
	}
}

// reason returns what a client may see of an error.
func reason(err error) string {
	var failure *fault.Error
	if errors.As(err, &failure) {
		return failure.Message
	}
	return "Something went wrong."
}

func (e *Enricher) warn(message string, err error) {
	if e.options.Warn != nil {
		e.options.Warn(message, err)
	}
}
