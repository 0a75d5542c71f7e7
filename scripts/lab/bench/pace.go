package bench

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/wait"
)

// sample is what one request took, and how it failed if it did.
type sample struct {
	took time.Duration
	err  error
}

// arrive starts n requests at a fixed rate, whatever becomes of the ones before. A request is timed
// from when it should have started: one that is held up by a slow one before it has waited, as a
// user has.
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

// loop lets so many clients ask one request after the other for a while. Requests are numbered over
// all clients.
func loop(ctx context.Context, clients int, lasting time.Duration, do func(ctx context.Context, i int) error) []sample {
	var (
		samples []sample
		next    int
		mu      sync.Mutex
		running sync.WaitGroup
	)
	end := time.Now().Add(lasting)
	for range clients {
		running.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				started := time.Now()
				s := sample{err: do(ctx, i)}
				s.took = time.Since(started)
				mu.Lock()
				samples = append(samples, s)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return samples
}

// outcome sums samples up: the milliseconds of those that succeeded, and how many failed, the first
// of them by name.
func outcome(samples []sample) (took []float64, failed int, first error) {
	for _, s := range samples {
		if s.err != nil {
			if failed++; first == nil {
				first = s.err
			}
			continue
		}
		took = append(took, milliseconds(s.took))
	}
	return took, failed, first
}
