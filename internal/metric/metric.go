// Package metric counts what the service does and exports it to Prometheus. It owns the metric
// names and labels and keeps their cardinality low: route templates, fixed function names, status
// classes, and a bounded number of model names. It does not know how requests are answered or
// models called.
package metric

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tasklens/internal/rescue"
)

// maxShown is the number of concurrent scrapes, which bounds their cost.
const maxShown = 4

// Buckets up to a request's timeout, finer in the range of cached responses.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	modelBuckets   = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40}
	batchBuckets   = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
)

// Metrics holds one program's metrics in its own registry. It is safe for concurrent use. A nil
// Metrics does nothing.
type Metrics struct {
	registry   *prometheus.Registry
	inFlight   prometheus.Gauge
	requests   *prometheus.HistogramVec
	calls      *prometheus.HistogramVec
	asked      *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	queries    *prometheus.CounterVec
	dissimilar *prometheus.CounterVec
	unknown    prometheus.Counter
	cached     *prometheus.CounterVec
	limits     *prometheus.CounterVec
	lost       *prometheus.CounterVec
	batches    *prometheus.HistogramVec
	sources    *prometheus.CounterVec

	handler http.Handler
	mutex   sync.Mutex
	models  map[string]bool
}

// New returns metrics with all counters at zero.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), models: map[string]bool{}}
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxShown})
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{Name: "tasklens_http_requests_in_flight", Help: "Requests under way, streams among them."})
	m.registry.MustRegister(m.inFlight)
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "tasklens_panics_total",
		Help: "Panics of the process, each of which failed one request or one piece of background work."},
		func() float64 { return float64(rescue.Count()) }))
	m.requests = m.histogram("http_request_duration_seconds", "Requests by route and class of status; a stream counts until its end, and by the status of its error event where it has one.", requestBuckets, "route", "method", "status")
	m.calls = m.histogram("rpc_duration_seconds", "Calls of database functions by the class of PostgREST's status; none where it gave no answer.", requestBuckets, "function", "status")
	m.asked = m.histogram("model_call_duration_seconds", "Calls of the model provider, retries included, by what came of them.", modelBuckets, "operation", "model", "outcome")
	m.tokens = m.counter("model_tokens_total", "Tokens as the model provider counts them.", "operation", "model", "direction")
	m.queries = m.counter("queries_total", "Questions and searches by what came of them, as in the query log.", "kind", "outcome")
	m.dissimilar = m.counter("low_similarity_total", "Questions and searches without a source over the threshold.", "kind")
	m.unknown = m.counter("unknown_citations_total", "Citations that were taken out of answers, because they name no source.").WithLabelValues()
	m.cached = m.counter("cache_requests_total", "Requests by where their response came from: hit, miss, shared.", "kind", "result")
	m.limits = m.counter("limits_hit_total", "Requests that were refused because of a limit.", "limit")
	m.lost = m.counter("records_lost_total", "What could not be written after a request: entries of the query log, and retrievals of documents.", "kind")
	m.batches = m.histogram("worker_batch_duration_seconds", "Batches of the worker by what came of them.", batchBuckets, "outcome")
	m.sources = m.counter("worker_sources_total", "Sources that the worker took: done, or left for another attempt.", "outcome")
	m.showTrouble()
	return m
}

// Handler serves the metrics, and answers 503 while too many scrapes run.
func (m *Metrics) Handler() http.Handler { return m.handler }

// collector is a collector whose values come from outside this package. Prometheus runs it on a
// goroutine of its own, where a panic loses its metrics, not the process.
type collector func(gauge show)

// show exports the value of a gauge.
type show func(description *prometheus.Desc, value float64, labels ...string)

// Describe describes nothing: Prometheus would read the values to find out.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(to chan<- prometheus.Metric) {
	_ = rescue.Do(func() error {
		c(func(description *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, labels...)
		})
		return nil
	})
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	made := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tasklens_" + name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(made)
	return made
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	made := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tasklens_" + name, Help: help}, labels)
	m.registry.MustRegister(made)
	return made
}

// class is the class of an HTTP status, such as 2xx for 204, or none if there was no response.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
