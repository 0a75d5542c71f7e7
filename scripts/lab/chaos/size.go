package chaos

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/web"
)

// size is the service's resource use and its number of panics.
type size struct{ goroutines, heap, panics float64 }

func (s size) String() string {
	return fmt.Sprintf("%.0f goroutines and %.1f MB of live heap", s.goroutines, s.heap/1e6)
}

// size reads the service's metrics.
func (r Run) size(ctx context.Context) (s size, err error) {
	values, err := web.Metrics(ctx, r.Service)
	return size{values["go_goroutines"], values["go_memstats_heap_alloc_bytes"], values["tasklens_panics_total"]}, err
}

// settle waits until the service has about its initial size.
func (r Run) settle(ctx context.Context, before size) (after size, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Recovery)
	defer cancel()
	visitor.CloseIdleConnections() // each holds a goroutine of the service
	web.CloseIdleConnections()
	for {
		if after, err = r.size(ctx); err != nil {
			return after, err
		}
		if after.panics > before.panics {
			return after, fmt.Errorf("the service panicked %.0f times, and its log says where", after.panics-before.panics)
		}
		if after.goroutines <= before.goroutines+20 && after.heap <= 2*before.heap+64e6 {
			return after, nil
		}
		if wait.For(ctx, 500*time.Millisecond) != nil {
			return after, fmt.Errorf("the service has grown: %s, then %s", before, after)
		}
	}
}
