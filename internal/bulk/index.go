package bulk

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/fault"
	"tasklens/internal/index"
	"tasklens/internal/rescue"
	"tasklens/internal/wait"
)

// Index indexes the sources of a batch. Failures are counted and reported. It returns an error,
// which ends the import, only if nothing was indexed for several consecutive batches.
func (i *Import) Index(ctx context.Context, sources []index.Source) error {
	if len(sources) == 0 {
		return nil
	}
	left := sources
	var err error
	for pause, try := firstPause, 1; try <= tries; pause, try = 2*pause, try+1 {
		if try > 1 && wait.For(ctx, pause) != nil {
			break
		}
		var results []index.Result
		err = rescue.Do(func() (err error) {
			results, err = i.indexer.Index(ctx, i.db, left, false)
			return err
		})
		if left = i.add(results, left); len(left) == 0 {
			break
		}
		if code := fault.CodeOf(err); code != fault.Unavailable && code != fault.Timeout {
			break
		}
	}
	hopeless := i.progress(len(sources)-len(left), len(left))
	if ctx.Err() != nil || hopeless {
		return errors.Join(err, ctx.Err())
	}
	if len(left) > 0 {
		i.failed(fmt.Errorf("%d of %d are written, but not indexed: %w", len(left), len(sources), err))
	}
	return nil
}

// add counts the results and returns the sources that were not indexed.
func (i *Import) add(results []index.Result, sources []index.Source) (left []index.Source) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	for n, source := range sources {
		if n >= len(results) || !results[n].Done {
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

// progress records how many sources of a batch were indexed and reports whether the import should
// end.
func (i *Import) progress(indexed, left int) bool {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.counts.Unindexed += left
	if indexed > 0 {
		i.idle = 0
	} else {
		i.idle++
	}
	return i.idle >= maxIdle
}
