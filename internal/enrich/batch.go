package enrich

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tasklens/internal/fault"
	"tasklens/internal/rescue"
)

const (
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

// document is a claimed document, as claim_enrichments returns it.
type document struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Content string `json:"content"`
	LeaseID string `json:"lease_id"`
}

// batch is a running batch.
type batch struct {
	*Enricher
	db     Database
	stored context.Context // of the calls that store results

	mutex    sync.Mutex
	report   Report
	untried  []string // leases to release
	failures int      // consecutive ones of the provider
}

// Batch enriches up to size documents (1 to 100) that are due. It ends without an error at its
// deadline, which is five sixths of the time left in ctx. It ends with an error if continuing is
// pointless: the provider limits the rate (fault.Unavailable), rejects the key, or fails for
// several documents in a row. The report is valid in every case.
func (e *Enricher) Batch(ctx context.Context, db Database, size int) (Report, error) {
	timeout := e.options.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)/6*5)
	}
	b := &batch{Enricher: e, db: db, stored: context.WithoutCancel(ctx), report: Report{Errors: []Failure{}}}
	var claimed []document
	err := db.Call(ctx, "claim_enrichments", map[string]any{
		"batch_size": size, "lease_seconds": (timeout + leaseMargin).Seconds(), "attempt_limit": e.options.Attempts,
	}, &claimed)
	if err != nil {
		return b.report, fmt.Errorf("take documents to enrich: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx) // an error stops the batch
	group.SetLimit(e.options.Concurrency)
	for _, d := range claimed {
		group.Go(func() error {
			if b.bucket.Wait(ctx) != nil {
				return b.leave(d, nil)
			}
			var said enrichment
			err := rescue.Do(func() (err error) {
				said, err = b.ask(ctx, d)
				return err
			})
			return b.finish(ctx, d, said, err)
		})
	}
	err = group.Wait()
	b.release(err)
	return b.report, err
}

// finish records the outcome of a document in the database and in the report. It returns an error
// that concerns all others too.
func (b *batch) finish(ctx context.Context, d document, said enrichment, err error) error {
	switch code := fault.CodeOf(err); {
	case err == nil:
		err = b.store(d, said)
	case ctx.Err() != nil: // out of time or stopped: no fault of the document
		return b.leave(d, nil)
	case code == fault.Unavailable || errors.Is(err, fault.ErrKey):
		return b.leave(d, err)
	default:
		b.fail(d, err)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.report.Processed++
	if err == nil {
		b.report.Succeeded++
		b.failures = 0
		return nil
	}
	b.report.Errors = append(b.report.Errors, Failure{ID: d.ID, Error: failureOf(err).Message})
	b.options.Warn("enrich document "+d.ID, err)
	var unusable badAnswer
	switch code := fault.CodeOf(err); {
	case code == fault.Unavailable: // the database is down: more model calls would be wasted
		return err
	case errors.As(err, &unusable) || code != fault.Provider && code != fault.Timeout:
		b.failures = 0
	default:
		b.failures++
	}
	if b.failures >= enough {
		return err
	}
	return nil
}

// leave notes a document to release, without an attempt.
func (b *batch) leave(d document, err error) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.untried = append(b.untried, d.LeaseID)
	return err
}

func (b *batch) call(function string, arguments map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(b.stored, storeTimeout)
	defer cancel()
	return b.db.Call(ctx, function, arguments, result)
}

// store writes an enrichment. A document whose text changed while the model read it is already
// queued with its new text.
func (b *batch) store(d document, said enrichment) error {
	var stored bool
	err := b.call("store_enrichment", map[string]any{
		"doc_id": d.ID, "lease_id": d.LeaseID, "keywords": said.Keywords, "named_entities": said.NamedEntities,
		"temporal_class": said.TemporalClass, "model": said.model,
	}, &stored)
	if err != nil {
		err = fmt.Errorf("store enrichment: %w", err)
		b.fail(d, err)
	} else if !stored {
		err = fault.New(fault.Invalid, "Its text changed while the model read it.")
	}
	return err
}

// fail records an error on the document and schedules its retry. If that fails too, the document is
// due when its lease expires.
func (b *batch) fail(d document, failure error) {
	err := b.call("return_enrichments", map[string]any{
		"lease_ids": []string{d.LeaseID}, "error": failureOf(failure).Message, "retry_seconds": b.options.Retry.Seconds(),
	}, nil)
	if err != nil {
		b.options.Warn("record that a document was not enriched", err)
	}
}

// release releases the documents that were not tried, due after the pause that the provider asked
// for.
func (b *batch) release(stopped error) {
	if len(b.untried) == 0 {
		return
	}
	err := b.call("return_enrichments", map[string]any{"lease_ids": b.untried, "retry_seconds": failureOf(stopped).RetryAfter.Seconds()}, nil)
	if err != nil {
		b.options.Warn("release documents that were not tried", err)
	}
}

// failureOf returns what a client may see of an error.
func failureOf(err error) *fault.Error {
	failure := &fault.Error{Message: "Something went wrong."}
	_ = errors.As(err, &failure)
	return failure
}
