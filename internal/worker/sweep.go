package worker

import (
	"context"
	"time"

	"tasklens/internal/wait"
)

// sweepEvery is the pause between two looks for chunks that were staged and never shown.
const sweepEvery = time.Hour

// sweep removes chunks that nobody came back to, some at a time.
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
