package worker

import (
	"context"
	"time"

	"tasklens/internal/wait"
)

// sweepEvery is the interval between searches for abandoned staged chunks.
const sweepEvery = time.Hour

// sweep removes abandoned staged chunks, a few at a time.
func (w *Worker) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		for swept := 1; swept > 0 && ctx.Err() == nil; {
			swept = 0
			if err := w.call(ctx, "sweep_staged_chunks", map[string]any{}, &swept); err != nil {
				w.warn(ctx, "remove chunks that were never shown", err)
			}
		}
		_ = wait.For(ctx, sweepEvery) // the loop sees the end
	}
}
