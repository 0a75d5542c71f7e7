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

// newLogger writes to standard error, so that what a verb prints can be used.
func newLogger(c Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[c.LogLevel]}
	if c.LogFormat == "json" {
		return slog.New(api.WithRequest(slog.NewJSONHandler(os.Stderr, options)))
	}
	return slog.New(api.WithRequest(slog.NewTextHandler(os.Stderr, options)))
}

// A model provider that failed so many calls in a row, retries included, is left alone for so long.
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
		AttemptTimeout: c.ModelTimeout, MaxRetries: c.ModelRetries, CircuitFailures: circuitFailures, CircuitPause: circuitPause,
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

// workerBatch is how many sources a worker takes at once.
const workerBatch = 100

func workerOptions(c Config, warn func(context.Context, string, error)) worker.Options {
	return worker.Options{Concurrency: c.WorkerConcurrency, Batch: workerBatch, Lease: c.WorkerLease, Attempts: c.WorkerAttempts, Poll: c.WorkerPoll, Warn: warn}
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
	return answer.Options{ContextTokens: c.ContextTokens, VectorWeight: c.VectorWeight, KeywordWeight: c.KeywordWeight, Fusion: c.Fusion}
}

// enrichConcurrency is how many documents are read by the model at once.
const enrichConcurrency = 4

// newEnricher makes one whose batches take at most so long (0: as long as a request may).
func newEnricher(c Config, model enrich.Model, timeout time.Duration, warn func(string, error)) *enrich.Enricher {
	return enrich.New(model, enrich.Options{
		PerMinute: c.EnrichPerMinute, Concurrency: enrichConcurrency, Timeout: timeout, Warn: warn,
	})
}

// newQueryLog starts the log of what is asked, as the service: who asks has no right to it. nil where it is off.
func newQueryLog(c Config, db *postgrest.Client, o observer) *querylog.Log {
	if c.QueryLog == "off" {
		return nil
	}
	return querylog.New(db.AsService(), querylog.Options{RetentionDays: c.QueryLogRetention, Warn: o.lost(metric.LostQueryLog, "queries are missing in the query log")})
}

// newTracker starts what counts which documents are found, as the service: who searches has no right to write.
func newTracker(db *postgrest.Client, o observer) *knowledge.Tracker {
	return knowledge.NewTracker(db.AsService(), o.lost(metric.LostRetrievals, "searches for documents were not counted"))
}
