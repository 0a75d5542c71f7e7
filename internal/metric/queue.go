package metric

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue is the state of the indexing queue.
type Queue struct {
	Pending, Running, Failed, Dead int     // sources
	OldestPendingSeconds           float64 // 0 if there is none
	Chunks                         int
	SourcesWithoutChunks           int
}

// Queue registers gauges that call read on a scrape, at most once in every interval (cached in
// between, failures too) and for at most patience. So neither many scrapes nor a hanging database
// cost much.
func (m *Metrics) Queue(read func(ctx context.Context) (Queue, error), every, patience time.Duration) {
	up := describe("queue_up", "1 if the state of the queue could be read, else 0; the other queue metrics are then absent.")
	sources := describe("queue_sources", "Sources that wait to be embedded (pending), are being embedded (running), wait for another attempt (failed) or failed permanently (dead).", "state")
	oldest := describe("queue_oldest_pending_seconds", "How long the oldest of those pending or failed has waited; 0 without any.")
	chunks := describe("chunks", "Chunks that are searched.")
	without := describe("sources_without_chunks", "Sources that have a text but no chunk of the model by which they are searched.")
	var mutex sync.Mutex
	var asked time.Time
	var last Queue
	var failure error
	lately := func() (Queue, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if asked.IsZero() || time.Since(asked) >= every {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			last, failure = read(ctx)
			asked = time.Now()
		}
		return last, failure
	}
	m.registry.MustRegister(collector(func(gauge show) {
		told, err := lately()
		if err != nil {
			gauge(up, 0)
			return
		}
		gauge(up, 1)
		for state, n := range map[string]int{"pending": told.Pending, "running": told.Running, "failed": told.Failed, "dead": told.Dead} {
			gauge(sources, float64(n), state)
		}
		gauge(oldest, told.OldestPendingSeconds)
		gauge(chunks, float64(told.Chunks))
		gauge(without, float64(told.SourcesWithoutChunks))
	}))
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tasklens_"+name, help, labels, nil)
}
