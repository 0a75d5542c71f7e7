package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/memo"
	"tasklens/internal/metric"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/rescue"
	"tasklens/internal/trace"
	"tasklens/internal/worker"
	"tasklens/server/api"
)

const (
	// Minimum interval between two reads of the queue's state for metrics, and the timeout of one.
	queueEvery    = 15 * time.Second
	queuePatience = 5 * time.Second
	// scrapeTimeout bounds a request on the metrics port, and the shutdown of that server.
	scrapeTimeout = 20 * time.Second
)

// observer holds metrics, traces and logs. A nil field is off.
type observer struct {
	log     *slog.Logger
	metrics *metric.Metrics
	tracer  *trace.Tracer
}

func newObserver(ctx context.Context, c Config) (o observer, err error) {
	o.log = newLogger(c)
	rescue.Report(func(panicked any, stack []byte) { o.log.Error("panic", "panic", panicked, "stack", string(stack)) })
	if c.MetricsAddress != metricsOff {
		o.metrics = metric.New()
	}
	if c.traces() {
		o.tracer, err = trace.New(ctx, trace.Options{
			RequestID: api.RequestID, Warn: func(message string, err error) { o.log.Warn(message, "error", err) },
		})
	}
	return o, err
}

// close exports the remaining spans until the context ends.
func (o observer) close(ctx context.Context) {
	if err := o.tracer.Close(ctx); err != nil {
		o.log.Warn("traces are incomplete", "error", err)
	}
}

func (o observer) newDatabase(c Config) *postgrest.Client {
	return newDatabase(c, o.metrics.RPC, o.tracer.RPC)
}

func (o observer) newModel(c Config) *openai.Client {
	settings := modelConfig(c)
	settings.Watch, settings.Around = o.watchModel, o.tracer.Carry
	model := openai.New(settings)
	if o.metrics != nil {
		o.metrics.Circuits(model.LeftAlone, openai.OperationEmbeddings, openai.OperationChat)
	}
	return model
}

func (o observer) watchModel(ctx context.Context, call openai.Call) (context.Context, func(openai.Outcome)) {
	count := o.metrics.Model(call.Operation, call.Model)
	ctx, end := o.tracer.Model(ctx, call.Operation, call.Model)
	return ctx, func(came openai.Outcome) {
		failure := failureOf(came.Err)
		count(outcome(failure), came.TokensIn, came.TokensOut)
		end(trace.Asked{Model: came.Model, Finish: came.Finish, TokensIn: came.TokensIn, TokensOut: came.TokensOut, Failure: failure})
	}
}

func (o observer) watchBatch(ctx context.Context, sources int) (context.Context, func(int, error)) {
	count := o.metrics.Batch(sources)
	ctx, end := o.tracer.Batch(ctx, sources)
	return ctx, func(done int, err error) {
		failure := failureOf(err)
		count(done, outcome(failure))
		end(done, failure)
	}
}

// lost returns a function that counts and logs lost records of a kind.
func (o observer) lost(kind, message string) func(lost int64, cause error) {
	return func(lost int64, cause error) {
		o.metrics.Lost(kind, lost)
		o.log.Warn(message, "lost", lost, "error", cause)
	}
}

// failureOf returns a fixed word for an error, "" for nil.
func failureOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return string(fault.CodeOf(err))
	}
}

func outcome(failure string) string {
	if failure == "" {
		return "ok"
	}
	return failure
}

// watchQueue registers the queue's state as metrics.
func (o observer) watchQueue(db worker.Database, model string) {
	if o.metrics == nil {
		return
	}
	o.metrics.Queue(func(ctx context.Context) (metric.Queue, error) {
		s, err := worker.ReadStatus(ctx, db, model)
		return metric.Queue{
			Pending: s.Pending, Running: s.Running, Failed: s.Failed, Dead: s.Dead,
			OldestPendingSeconds: s.OldestPendingSeconds, Chunks: s.Chunks, SourcesWithoutChunks: s.SourcesWithoutChunks,
		}, err
	}, queueEvery, queuePatience)
}

// countCached counts where a response came from.
func (o observer) countCached(kind string, origin memo.Origin) {
	result := "miss"
	switch origin {
	case memo.Hit:
		result = "hit"
	case memo.Shared:
		result = "shared"
	}
	o.metrics.Cached(kind, result)
}

// serveMetrics serves the metrics on the port that the settings name, if any. stop stops the
// server.
func (o observer) serveMetrics(c Config) (stop func(), err error) {
	if o.metrics == nil || c.MetricsAddress == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", c.MetricsAddress)
	if err != nil {
		return nil, fmt.Errorf("listen for the metrics: %w", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", o.metrics.Handler())
	server := &http.Server{Handler: routes, ReadHeaderTimeout: scrapeTimeout, ReadTimeout: scrapeTimeout, WriteTimeout: 2 * scrapeTimeout, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	o.log.Info("showing metrics", "address", listener.Addr().String())
	return func() {
		_ = server.Close()
		<-served
	}, nil
}

// missingModel reports the operations of the model whose circuit breaker is open.
func missingModel(model *openai.Client) api.Missing {
	return func(context.Context) (missing []string) {
		for _, operation := range model.LeftAlone() {
			missing = append(missing, "model: "+operation)
		}
		return missing
	}
}
