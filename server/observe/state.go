package observe

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tasklens/internal/openai"
	"tasklens/internal/rescue"
	"tasklens/internal/worker"
)

const (
	// The queue's state is read on a scrape, at most once in this time, so that scrapes cost little.
	queueEvery   = 15 * time.Second
	queueTimeout = 5 * time.Second
)

// gauge registers a gauge whose value is read on a scrape.
func (o *Observer) gauge(name, help string, labels prometheus.Labels, value func() float64) {
	o.factory.NewGaugeFunc(prometheus.GaugeOpts{Name: "tasklens_" + name, Help: help, ConstLabels: labels}, value)
}

// Circuits exports whether the circuit breakers of the model are open.
func (o *Observer) Circuits(model *openai.Client) {
	for _, operation := range []string{openai.OperationEmbeddings, openai.OperationChat} {
		o.gauge("model_circuit_open", "1 while the circuit breaker is open for this operation.", prometheus.Labels{"operation": operation}, func() float64 {
			if slices.Contains(model.OpenCircuits(), operation) {
				return 1
			}
			return 0
		})
	}
}

// Queue exports the state of indexing for a model.
func (o *Observer) Queue(db worker.Database, model string) {
	q := &queue{db: db, model: model}
	o.refused = func() int {
		status, _ := q.read()
		return status.RefusedRows
	}
	o.gauge("queue_up", "1 if the state of the queue could be read, else 0; the other queue metrics are then NaN.", nil, func() float64 {
		if _, err := q.read(); err != nil {
			return 0
		}
		return 1
	})
	export := func(name, help string, labels prometheus.Labels, value func(worker.Status) float64) {
		o.gauge(name, help, labels, func() float64 {
			status, err := q.read()
			if err != nil {
				return math.NaN()
			}
			return value(status)
		})
	}
	for state, value := range map[string]func(worker.Status) int{
		"pending": func(s worker.Status) int { return s.Pending }, "running": func(s worker.Status) int { return s.Running },
		"failed": func(s worker.Status) int { return s.Failed }, "dead": func(s worker.Status) int { return s.Dead },
	} {
		export("queue_sources", "Sources that wait to be embedded (pending), are being embedded (running), wait for another attempt (failed) or failed permanently (dead).",
			prometheus.Labels{"state": state}, func(s worker.Status) float64 { return float64(value(s)) })
	}
	export("queue_oldest_pending_seconds", "How long the oldest of those pending or failed has waited; 0 without any.", nil, func(s worker.Status) float64 { return s.OldestPendingSeconds })
	export("chunks", "Chunks that are searched.", nil, func(s worker.Status) float64 { return float64(s.Chunks) })
	export("sources_without_chunks", "Sources that have a text but no chunk of the model by which they are searched.", nil, func(s worker.Status) float64 { return float64(s.SourcesWithoutChunks) })
	export("refused_rows", "Rows of attached tables that cannot be copied as they are.", nil, func(s worker.Status) float64 { return float64(s.RefusedRows) })
}

// RefusedRows is how many rows of attached tables were refused, as of the last seconds; 0 without
// Queue.
func (o *Observer) RefusedRows() int { return o.refused() }

// queue caches the state of indexing, failures too.
type queue struct {
	db    worker.Database
	model string

	mutex  sync.Mutex
	asked  time.Time
	status worker.Status
	err    error
}

func (q *queue) read() (worker.Status, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if time.Since(q.asked) >= queueEvery {
		ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
		defer cancel()
		q.err = rescue.Do(func() (err error) { // Prometheus reads on goroutines of its own
			q.status, err = worker.ReadStatus(ctx, q.db, q.model)
			return err
		})
		q.asked = time.Now()
	}
	return q.status, q.err
}
