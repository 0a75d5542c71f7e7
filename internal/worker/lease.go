package worker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// leases are the leases of the jobs held now.
type leases struct {
	mutex sync.Mutex
	held  []string
}

func (l *leases) add(lease string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held = append(l.held, lease)
}

func (l *leases) remove(lease string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held = slices.DeleteFunc(l.held, func(other string) bool { return other == lease })
}

func (l *leases) list() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.held)
}

// beat renews the leases while their batches run. If that fails, another worker repeats the work,
// which costs only requests.
func (w *Worker) beat(ctx context.Context) {
	ticker := time.NewTicker(w.options.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.alone(ctx, w.extend)
	}
}

func (w *Worker) extend(ctx context.Context) {
	held := w.leases.list()
	if len(held) == 0 {
		return
	}
	err := w.call(ctx, "extend_embedding_leases", map[string]any{"lease_ids": held, "lease_seconds": w.options.Lease.Seconds()}, nil)
	if err != nil {
		w.warn(ctx, "extend leases of embedding jobs", err)
	}
}
