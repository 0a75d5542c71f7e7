package observe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tasklens/internal/openai"
	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
	"tasklens/internal/worker"
)

const (
	// The queue's state is read on a scrape, at most once in this time, so that scrapes cost little.
	queueEvery   = 15 * time.Second
	queueTimeout = 5 * time.Second
	// A probe of readiness waits for a reading at most so long, within the second that it has.
	probeWait = 300 * time.Millisecond
)

// Circuits exports whether the circuit breakers of the model are open.
func (o *Observer) Circuits(model *openai.Client) {
	for _, operation := range []string{openai.OperationEmbeddings, openai.OperationChat} {
		o.factory.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tasklens_model_circuit_open", Help: "1 while the circuit breaker is open for this operation.", ConstLabels: prometheus.Labels{"operation": operation},
		}, func() float64 {
			if slices.ContainsFunc(model.OpenCircuits(), func(open string) bool { return strings.HasPrefix(open, operation) }) {
				return 1
			}
			return 0
		})
	}
}

// Queue exports the state of indexing for a model.
func (o *Observer) Queue(db rpc.Caller, model string) {
	o.queue = &queue{db: db, model: model}
	o.registry.MustRegister(o.queue)
}

// Describe describes nothing, because Prometheus would ask the database for it at the start.
func (q *queue) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state on a scrape.
func (q *queue) Collect(metrics chan<- prometheus.Metric) {
	s, err := q.read()
	gauge := func(value float64, name, help string, labels prometheus.Labels) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc("tasklens_"+name, help, nil, labels), prometheus.GaugeValue, value)
	}
	up, known := 1.0, 0.0
	if err != nil {
		up, known = 0, math.NaN() // beside which every number is NaN
	}
	gauge(up, "queue_up", "1 if the state of the queue could be read, else 0; the other queue metrics are then NaN.", nil)
	for state, sources := range map[string]int{"pending": s.Pending, "running": s.Running, "failed": s.Failed, "dead": s.Dead} {
		gauge(known+float64(sources), "queue_sources", "Sources that wait to be embedded (pending), are being embedded (running), wait for another attempt (failed) or failed permanently (dead).", prometheus.Labels{"state": state})
	}
	gauge(known+s.OldestPendingSeconds, "queue_oldest_pending_seconds", "How long the oldest of those pending or failed, or of the waiting copies, has waited; 0 without any.", nil)
	gauge(known+float64(s.Chunks), "chunks", "Chunks that are searched.", nil)
	gauge(known+float64(s.SourcesWithoutChunks), "sources_without_chunks", "Sources that have a text but no chunk of the model by which they are searched.", nil)
	gauge(known+float64(s.RefusedRows), "refused_rows", "Rows of attached tables that cannot be copied as they are.", nil)
	gauge(known+float64(s.WaitingCopies), "waiting_copies", "Changes of attached tables that wait to be copied.", nil)
}

// Indexing is the state of indexing, as last known; zero without Queue.
func (o *Observer) Indexing() worker.Status {
	if o.queue == nil {
		return worker.Status{}
	}
	return o.queue.known()
}

// queue caches the state of indexing, failures too.
type queue struct {
	db    rpc.Caller
	model string

	mutex sync.Mutex
	asked time.Time
	err   error

	reading atomic.Bool                   // for a probe
	last    atomic.Pointer[worker.Status] // that could be read; nil: none yet
}

// known returns the last known state. A new reading goes on in the background where it takes longer
// than probeWait.
func (q *queue) known() worker.Status {
	if q.reading.CompareAndSwap(false, true) {
		done := make(chan struct{})
		rescue.Go(func() {
			defer close(done)
			defer q.reading.Store(false)
			_, _ = q.read()
		})
		select {
		case <-done:
		case <-time.After(probeWait):
		}
	}
	return *cmp.Or(q.last.Load(), &worker.Status{})
}

func (q *queue) read() (worker.Status, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if time.Since(q.asked) >= queueEvery {
		ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
		defer cancel()
		q.err = rescue.Do(func() error { // Prometheus reads on goroutines of its own
			status, err := worker.ReadStatus(ctx, q.db, q.model)
			if err == nil {
				q.last.Store(&status)
			}
			return err
		})
		q.asked = time.Now()
	}
	return *cmp.Or(q.last.Load(), &worker.Status{}), q.err
}
