package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/fault"
	"tasklens/internal/queue"
	"tasklens/internal/rpc"
	"tasklens/internal/wait"
)

const (
	// enrichBatch is the number of documents per batch. The progress bar moves once per batch.
	enrichBatch = 20
	// enrichBatchTimeout bounds a batch. It is long enough for progress at one request per minute.
	enrichBatchTimeout = 5 * time.Minute
	// limitedPauses is how many times in a row a rate-limited provider is waited for, each time for
	// its Retry-After.
	limitedPauses = 10
)

// enrichDocuments runs batches until no document is due. Failed documents are due again later and
// are reported at the end.
func enrichDocuments(ctx context.Context, args []string) error {
	flags := newFlags("enrich")
	retry := flags.Bool("retry", false, "include failed documents at once")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	db := newDatabase(config).AsService()
	if err := requireSchema(ctx, db); err != nil {
		return err
	}
	if *retry {
		if err := db.Call(ctx, "replay_embedding_jobs", map[string]any{"kind": queue.Enrich}, nil); err != nil {
			return err
		}
	}
	before, err := enrich.ReadStats(ctx, db)
	if err != nil {
		return err
	}
	bar := newProgress("enriching")
	warn := func(_ context.Context, message string, err error) {
		bar.print("%s: %v", message, err)
	}
	succeeded, err := runBatches(ctx, newEnricher(config, newModel(config), max(enrichBatchTimeout, 2*config.ModelTimeout), warn), db, bar, before.Unenriched)
	bar.finish()
	if err != nil {
		return err
	}
	after, err := enrich.ReadStats(ctx, db)
	if err != nil {
		return err
	}
	fmt.Printf("%d documents were enriched; %d of %d are.\n", succeeded, after.Enriched, after.Total)
	if after.Unenriched > 0 {
		return fmt.Errorf("%d documents are not enriched, %d of them because their last attempt failed: they are tried again later, or now with --retry", after.Unenriched, after.Failed)
	}
	return nil
}

// runBatches runs batches until one finds nothing, and returns the number of documents enriched.
// progress gets the number of those processed.
func runBatches(ctx context.Context, enricher *enrich.Enricher, db rpc.Caller, bar *progress, total int64) (succeeded int, err error) {
	limited, processed := 0, int64(0)
	for {
		report, err := enricher.Batch(ctx, db, enrichBatch)
		succeeded += report.Succeeded
		processed += int64(report.Processed)
		if report.Succeeded > 0 {
			limited = 0
		}
		bar.show(processed, total, processed)
		if ctx.Err() != nil {
			return succeeded, errors.New("interrupted: what was enriched stays")
		}
		var failure *fault.Error
		switch {
		case err == nil && report.Processed == 0:
			return succeeded, nil
		case err == nil:
		case errors.As(err, &failure) && failure.Code == fault.Unavailable && failure.RetryAfter > 0 && limited < limitedPauses:
			limited++
			bar.print("%s Trying again in %v.", failure.Message, failure.RetryAfter.Round(time.Second))
			_ = wait.For(ctx, failure.RetryAfter) // if interrupted, the next batch returns at once
		default:
			return succeeded, err
		}
	}
}
