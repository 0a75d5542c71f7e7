package bench

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/wait"
)

// sample is the duration of a request and its error.
type sample struct {
	took time.Duration
	err  error
}

// arrive starts n requests at a fixed rate, independent of earlier responses. A request is timed
// from its scheduled start, so that queueing behind a slow one counts, as it does for users.
func arrive(ctx context.Context, every time.Duration, n int, do func(ctx context.Context, i int) error) []sample {
	samples := make([]sample, n)
	begun := time.Now()
	started := 0
	var running sync.WaitGroup
	for i := range n {
		due := begun.Add(time.Duration(i) * every)
		if wait.For(ctx, time.Until(due)) != nil {
			break
		}
		started++
		running.Go(func() {
			err := do(ctx, i)
			samples[i] = sample{time.Since(due), err}
		})
	}
	running.Wait()
	return samples[:started]
}

// succeeded returns the milliseconds of the successful samples.
func succeeded(samples []sample) (took []float64) {
	for _, s := range samples {
		if s.err == nil {
			took = append(took, milliseconds(s.took))
		}
	}
	return took
}
