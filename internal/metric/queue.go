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
// between) and for at most patience. So neither many scrapes nor a hanging database cost much.
func (m *Metrics) Queue(read func(ctx context.Context) (Queue, error), every, patience time.Duration) {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tasklens_"+name, help, labels, nil)
	}
	m.show(&queue{
		read: read, every: every, patience: patience,
		up:      describe("queue_up", "1 where the database told of the queue, 0 where it could not; then nothing else is told."),
		sources: describe("queue_sources", "Sources that wait to be embedded (pending), are being embedded (running), wait for another attempt (failed) or were given up (dead).", "state"),
		oldest:  describe("queue_oldest_pending_seconds", "How long the oldest of those pending or failed has waited; 0 without any."),
		chunks:  describe("chunks", "Chunks that are searched."),
		without: describe("sources_without_chunks", "Sources that have a text but no chunk of the model by which they are searched."),
	})
}

type queue struct {
	read            func(ctx context.Context) (Queue, error)
	every, patience time.Duration

	up, sources, oldest, chunks, without *prometheus.Desc

	mutex sync.Mutex
	asked time.Time
	last  Queue
	err   error
}

func (q *queue) Describe(to chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{q.up, q.sources, q.oldest, q.chunks, q.without} {
		to <- description
	}
}

func (q *queue) Collect(to chan<- prometheus.Metric) {
	gauge := func(description *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, labels...)
	}
	told, err := q.lately()
	if err != nil {
		gauge(q.up, 0)
		return
	}
	gauge(q.up, 1)
	for state, n := range map[string]int{"pending": told.Pending, "running": told.Running, "failed": told.Failed, "dead": told.Dead} {
		gauge(q.sources, float64(n), state)
	}
	gauge(q.oldest, told.OldestPendingSeconds)
	gauge(q.chunks, float64(told.Chunks))
	gauge(q.without, float64(told.SourcesWithoutChunks))
}

// lately returns the cached result, failures included, or reads a new one. Concurrent scrapes share
// the read.
func (q *queue) lately() (Queue, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !q.asked.IsZero() && time.Since(q.asked) < q.every {
		return q.last, q.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.patience)
	defer cancel()
	q.last, q.err = q.read(ctx)
	q.asked = time.Now()
	return q.last, q.err
}
