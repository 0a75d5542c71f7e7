package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/enrich"
	"tasklens/internal/index"
	"tasklens/internal/knowledge"
	"tasklens/internal/metric"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/search"
	"tasklens/internal/tokenizer"
	"tasklens/internal/worker"
	"tasklens/server/api"
)

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// newLogger logs to standard error, so that the output of verbs can be piped.
func newLogger(c Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[c.LogLevel]}
	if c.LogFormat == "json" {
		return slog.New(api.WithRequest(slog.NewJSONHandler(os.Stderr, options)))
	}
	return slog.New(api.WithRequest(slog.NewTextHandler(os.Stderr, options)))
}

// modelRetries is how often a failed call of the model is repeated.
const modelRetries = 2

// The circuit breaker of the model provider: consecutive failed calls, retries included, and how
// long it stays open.
const (
	circuitFailures = 5
	circuitPause    = 5 * time.Second
)

func newDatabase(c Config, around ...func(http.RoundTripper) http.RoundTripper) *postgrest.Client {
	return postgrest.New(c.RESTURL, c.key(), around...)
}

func newModel(c Config) *openai.Client { return openai.New(modelConfig(c)) }

func modelConfig(c Config) openai.Config {
	return openai.Config{
		BaseURL: c.OpenAIBaseURL, APIKey: c.OpenAIKey, EmbeddingModel: c.EmbeddingModel, Dimensions: c.EmbeddingDimensions, ChatModel: c.ChatModel,
		AttemptTimeout: c.ModelTimeout, MaxRetries: modelRetries, CircuitFailures: circuitFailures, CircuitPause: circuitPause,
	}
}

func newIndexer(model index.Model) (*index.Indexer, error) {
	measure, err := tokenizer.Load()
	if err != nil {
		return nil, err
	}
	return index.New(model, measure, index.Limits{Inputs: openai.MaxInputs, Tokens: openai.MaxTokens}), nil
}

func newWorker(c Config, db worker.Database, indexer *index.Indexer, o observer) *worker.Worker {
	options := workerOptions(c, func(ctx context.Context, message string, err error) { o.log.WarnContext(ctx, message, "error", err) })
	options.Watch = o.watchBatch
	return worker.New(db, indexer, options)
}

const (
	workerBatch = 100                     // sources that a worker claims at once
	workerLease = time.Minute             // after which the jobs of a killed worker are free
	workerPoll  = 1250 * time.Millisecond // mean interval between polls of an empty queue
)

func workerOptions(c Config, warn func(context.Context, string, error)) worker.Options {
	return worker.Options{Concurrency: c.WorkerConcurrency, Batch: workerBatch, Lease: workerLease, Attempts: c.WorkerAttempts, Poll: workerPoll, Warn: warn}
}

func newComparer(model search.Model) (*search.Comparer, error) {
	measure, err := tokenizer.Load()
	if err != nil {
		return nil, err
	}
	return search.NewComparer(model, measure), nil
}

func newAnswerer(c Config, model answer.Model) (*answer.Answerer, error) {
	measure, err := tokenizer.Load()
	if err != nil {
		return nil, err
	}
	return answer.New(model, measure, answerOptions(c)), nil
}

func answerOptions(c Config) answer.Options {
	return answer.Options{VectorWeight: c.VectorWeight, KeywordWeight: c.KeywordWeight, Fusion: c.Fusion}
}

// enrichConcurrency is the number of documents that the model reads concurrently.
const enrichConcurrency = 4

// newEnricher returns an Enricher whose batches take at most timeout (0: as long as a request may).
func newEnricher(c Config, model enrich.Model, timeout time.Duration, warn func(string, error)) *enrich.Enricher {
	return enrich.New(model, enrich.Options{
		PerMinute: c.EnrichPerMinute, Concurrency: enrichConcurrency, Timeout: timeout, Warn: warn,
	})
}

// newQueryLog starts the query log, or returns nil if it is off. It writes as the service, because
// callers may not.
func newQueryLog(c Config, db *postgrest.Client, o observer) *querylog.Log {
	if c.QueryLogRetention == 0 {
		return nil
	}
	return querylog.New(db.AsService(), querylog.Options{RetentionDays: c.QueryLogRetention, Warn: o.lost(metric.LostQueryLog, "queries are missing in the query log")})
}

// newTracker starts the count of retrievals. It writes as the service, because callers may not.
func newTracker(db *postgrest.Client, o observer) *knowledge.Tracker {
	return knowledge.NewTracker(db.AsService(), o.lost(metric.LostRetrievals, "searches for documents were not counted"))
}
