package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/rescue"
	"tasklens/internal/wait"
)

const (
	// tries is the number of attempts while the database or the model is unreachable, with pauses
	// of firstPause, doubled each time: 15 s in total, enough for a database restart or a rate
	// limit.
	tries      = 5
	firstPause = time.Second
	// maxIdle is the number of consecutive batches without any indexed source after which an import
	// ends.
	maxIdle = 3
)

// importer writes rows and indexes their sources, whatever they are, while single ones fail, or the
// database or the model is briefly unavailable.
type importer struct {
	db      Database
	indexer Indexer
	report  Report

	mutex  sync.Mutex // for calls of report, and:
	counts Counts
	idle   int // consecutive batches without an indexed source
}

// trouble reports one at a time.
func (i *importer) trouble(kind Trouble, err error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.report.Trouble(kind, err)
}

func (i *importer) indexed(count int) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.report.Indexed(count)
}

// write writes rows in batches of a size that the database accepts, and waits for an unreachable
// database. A row that fails on its own is skipped, counted and reported by name. An error ends the
// import.
func write[T any](ctx context.Context, i *importer, rows []T, name func(T) string, do func([]T) error) error {
	return retry(ctx, []fault.Code{fault.Unavailable}, func() error {
		return index.InBatches(ctx, rows, func(part []T) (int, error) {
			if err := do(part); err != nil {
				return 0, err
			}
			rows = rows[len(part):]
			return len(part), nil
		}, func(row T, err error) {
			rows = rows[1:]
			i.mutex.Lock()
			i.counts.Unwritten++
			i.mutex.Unlock()
			i.trouble(Failed, fmt.Errorf("%s is not written: %w", name(row), err))
		})
	})
}

// index indexes the sources of a batch. Failures are counted and reported. It returns an error,
// which ends the import, only if nothing was indexed for several consecutive batches.
func (i *importer) index(ctx context.Context, sources []index.Source) error {
	if len(sources) == 0 {
		return nil
	}
	left := sources
	err := retry(ctx, []fault.Code{fault.Unavailable, fault.Timeout}, func() error {
		var results []index.Result
		err := rescue.Do(func() (err error) {
			results, err = i.indexer.Index(ctx, i.db, left, false)
			return err
		})
		if left = i.add(results, left); len(left) == 0 {
			return nil
		}
		return err
	})
	if idle := i.endBatch(len(left) == len(sources), len(left)); ctx.Err() != nil || idle >= maxIdle {
		return errors.Join(err, ctx.Err())
	}
	if len(left) > 0 {
		i.trouble(Failed, fmt.Errorf("%d of %d are written, but not indexed: %w", len(left), len(sources), err))
	}
	return nil
}

// add counts the results and returns the sources that were not indexed.
func (i *importer) add(results []index.Result, sources []index.Source) (left []index.Source) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	for n, source := range sources {
		if n >= len(results) || results[n].Err != nil {
			left = append(left, source)
			continue
		}
		i.counts.Chunks += len(results[n].EmbeddingIDs)
		i.counts.Embedded += results[n].Embedded
		i.counts.Reused += results[n].Reused
		i.counts.Tokens += results[n].Tokens
	}
	return left
}

// endBatch returns the number of consecutive batches of which nothing was indexed.
func (i *importer) endBatch(nothing bool, left int) (idle int) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.counts.Unindexed += left
	if i.idle++; !nothing {
		i.idle = 0
	}
	return i.idle
}

// retry repeats attempt, after pauses, while it fails with one of the codes.
func retry(ctx context.Context, codes []fault.Code, attempt func() error) (err error) {
	for pause, try := firstPause, 1; try <= tries; pause, try = 2*pause, try+1 {
		if try > 1 && wait.For(ctx, pause) != nil {
			break
		}
		if err = attempt(); err == nil || !slices.Contains(codes, fault.CodeOf(err)) {
			break
		}
	}
	return err
}
