// Package observe counts and traces what the service does. It owns the names of metrics, spans and
// their attributes (OpenTelemetry's conventions, including GenAI). The labels of metrics are few:
// route templates, fixed function names, status classes, models. No span contains a question,
// prompt, text, path or key.
package observe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"tasklens/internal/fault"
	"tasklens/internal/memo"
	"tasklens/internal/rescue"
)

// Buckets up to a request's timeout, finer in the range of cached responses.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	modelBuckets   = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40}
	batchBuckets   = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
)

// Label values of limits_hit_total and records_lost_total.
const (
	LimitRate     = "rate"
	LimitCaller   = "caller"
	LimitInFlight = "in_flight"

	LostQueryLog   = "query_log"
	LostRetrievals = "retrievals"
)

// Observer holds one program's metrics in a registry of their own, and its tracer. It is safe for
// concurrent use.
type Observer struct {
	registry *prometheus.Registry
	factory  promauto.Factory
	tracer   trace.Tracer
	close    func(context.Context) error
	queue    *queue // nil before Queue
	// propagator reads and writes the headers of W3C Trace Context; none unless traces are on.
	propagator propagation.TextMapPropagator

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
}

// New returns an observer with all counters at zero, and no traces.
func New() *Observer {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o := &Observer{
		registry: registry, factory: promauto.With(registry), tracer: noop.NewTracerProvider().Tracer(""),
		propagator: propagation.NewCompositeTextMapPropagator(), close: func(context.Context) error { return nil },
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return o.factory.NewCounterVec(prometheus.CounterOpts{Name: "tasklens_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return o.factory.NewHistogramVec(prometheus.HistogramOpts{Name: "tasklens_" + name, Help: help, Buckets: buckets}, labels)
	}
	o.factory.NewCounterFunc(prometheus.CounterOpts{Name: "tasklens_panics_total", Help: "Panics of the process, each of which failed one request or one piece of background work."},
		func() float64 { return float64(rescue.Count()) })
	o.inFlight = o.factory.NewGauge(prometheus.GaugeOpts{Name: "tasklens_http_requests_in_flight", Help: "Requests under way, streams among them."})
	o.requests = histogram("http_request_duration_seconds", "Requests by route and class of status; a stream counts until its end, and by the status of its error event where it has one.", requestBuckets, "route", "method", "status")
	o.calls = histogram("rpc_duration_seconds", "Calls of database functions by the class of PostgREST's status; none where it gave no answer.", requestBuckets, "function", "status")
	o.asked = histogram("model_call_duration_seconds", "Calls of the model provider, retries included, by what came of them.", modelBuckets, "operation", "model", "outcome")
	o.tokens = counter("model_tokens_total", "Tokens as the model provider counts them.", "operation", "model", "direction")
	o.queries = counter("queries_total", "Questions and searches by what came of them, as in the query log.", "kind", "outcome")
	o.dissimilar = counter("low_similarity_total", "Questions and searches without a source over the threshold.", "kind")
	o.unknown = counter("unknown_citations_total", "Brackets in answers that look like citations and name no source.").WithLabelValues()
	o.cached = counter("cache_requests_total", "Requests by where their response came from: hit, miss, shared.", "kind", "result")
	o.limits = counter("limits_hit_total", "Requests that were refused because of a limit.", "limit")
	o.lost = counter("records_lost_total", "What could not be written after a request: entries of the query log, and retrievals of documents.", "kind")
	o.batches = histogram("worker_batch_duration_seconds", "Batches of the worker by what came of them.", batchBuckets, "outcome")
	o.sources = counter("worker_sources_total", "Sources that the worker took: done, or left for another attempt.", "outcome")
	// A counter that first appears as 1 has not increased, so no alert would report the first event.
	for _, limit := range []string{LimitRate, LimitCaller, LimitInFlight} {
		o.limits.WithLabelValues(limit)
	}
	for _, kind := range []string{LostQueryLog, LostRetrievals} {
		o.lost.WithLabelValues(kind)
	}
	return o
}

// Handler serves the metrics to Prometheus.
func (o *Observer) Handler() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{})
}

// Query counts a question or a search with its outcome, and the citations removed from its answer.
// Both labels are fixed words of the query log.
func (o *Observer) Query(kind, outcome string, lowSimilarity bool, unknownCitations int) {
	o.queries.WithLabelValues(kind, outcome).Inc()
	o.unknown.Add(float64(unknownCitations))
	if lowSimilarity {
		o.dissimilar.WithLabelValues(kind).Inc()
	}
}

// Cached counts a request by where its response came from.
func (o *Observer) Cached(kind string, origin memo.Origin) {
	result := map[memo.Origin]string{memo.Hit: "hit", memo.Shared: "shared"}[origin]
	o.cached.WithLabelValues(kind, cmp.Or(result, "miss")).Inc()
}

// LimitHit counts a request rejected by a limit.
func (o *Observer) LimitHit(limit string) { o.limits.WithLabelValues(limit).Inc() }

// Lost counts records of a kind that were not written.
func (o *Observer) Lost(kind string, records int64) {
	o.lost.WithLabelValues(kind).Add(float64(records))
}

// wordOf returns a fixed word for an error, "" for nil.
func wordOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return string(fault.CodeOf(err))
	}
}

// class is the class of an HTTP status, such as 2xx for 204, or none if there was no response.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
