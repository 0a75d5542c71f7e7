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
	// storeTimeout bounds a call that says what became of documents. It is made even when the batch's time is over: half
	// done, it would leave documents taken until their lease ends.
	storeTimeout = 5 * time.Second
	// leaseMargin is how much longer than a batch its documents stay taken.
	leaseMargin = 30 * time.Second
	// enough failures of the provider in a row, of different documents, are not the documents' fault.
	enough = 5
)

// Report is what a batch did: Processed is Succeeded and Errors together. Documents that it took and did not come to were
// given back and are not in it.
type Report struct {
	Processed int       `json:"processed"`
	Succeeded int       `json:"succeeded"`
	Errors    []Failure `json:"errors"`
}

// Failure is a document that was not enriched, and why, fit for a client. It is tried again later, unless this was its
// last attempt.
type Failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// Batch enriches up to size documents (1 to MaxBatch) that are due. It ends early at its deadline, or five sixths into the
// time that ctx has left, without an error; and with one where going on would be in vain: the provider limits us
// (fault.Unavailable), refuses the key, or fails with one document after another. The report is good in any case.
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
			// After a panic the document is due when its lease ends, with an attempt used up.
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

// begin waits for a free slot, then for a token: whoever waits for a slot shall not hold a token meanwhile.
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

// batch is one under way.
type batch struct {
	*Enricher
	db     Database
	ctx    context.Context
	cancel context.CancelFunc

	mutex   sync.Mutex
	report  Report
	left    []string // leases of what is to be given back
	pause   time.Duration
	inARow  int   // failures of the provider
	stopped error // why the batch ended early
}

// one enriches a document, and says in the report and in the database what became of it.
func (b *batch) one(d document) {
	said, model, err := b.describe(d)
	if err != nil && b.ctx.Err() != nil {
		b.giveBack(d) // its time was over, or the batch was stopped: not its fault
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

// describe is ask, with a panic as an ordinary failure: one bad document never stops the others.
func (b *batch) describe(d document) (said enrichment, model string, err error) {
	err = rescue.Do(func() (err error) {
		said, model, err = b.ask(b.ctx, d)
		return err
	})
	return said, model, err
}

// hopeless tells whether an error means that no other document would fare better, and stops the batch then.
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

// count writes a document that was tried into the report.
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
	case code == fault.Unavailable: // the database: to ask the model more would be in vain
		b.stop(err)
	case errors.As(err, &answered) || code != fault.Provider && code != fault.Timeout:
		b.inARow = 0
	default:
		if b.inARow++; b.inARow == enough {
			b.stop(err)
		}
	}
}

// reason is what may be told of an error.
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
