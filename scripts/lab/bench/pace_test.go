package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Fake time: it advances when all goroutines wait.
func TestRequestsArriveAtTheirRateWhateverBecomesOfThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []time.Duration
		begun := time.Now()
		samples := arrive(t.Context(), 100*time.Millisecond, 5, func(_ context.Context, i int) error {
			mu.Lock()
			starts = append(starts, time.Since(begun))
			mu.Unlock()
			time.Sleep(time.Duration(i) * time.Second)
			if i == 3 {
				return errors.New("three")
			}
			return nil
		})
		if want := []time.Duration{0, 1e8, 2e8, 3e8, 4e8}; !slices.Equal(starts, want) {
			t.Errorf("started at %v", starts)
		}
		took, failed, first := outcome(samples)
		if !slices.Equal(took, []float64{0, 1000, 2000, 4000}) || failed != 1 || first == nil || first.Error() != "three" {
			t.Errorf("took %v, %d failed, %v", took, failed, first)
		}
	})
}

func TestAnEndedContextStopsArrivals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		if samples := arrive(ctx, 100*time.Millisecond, 10, func(context.Context, int) error { return nil }); len(samples) != 3 {
			t.Errorf("%d requests were started in 250 ms", len(samples))
		}
	})
}
