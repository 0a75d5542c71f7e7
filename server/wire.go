package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/identity"
	"tasklens/internal/index"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
	"tasklens/internal/shared"
	"tasklens/internal/tokenizer"
	"tasklens/internal/worker"
	"tasklens/server/api"
	"tasklens/server/console"
	"tasklens/server/observe"
)

// modelRetries is how often a failed call of the model is repeated.
const modelRetries = 2

// openAI is where no server puts thoughts into an answer.
const openAI = "https://api.openai.com"

// The circuit breaker of the model provider: consecutive failed calls, retries included, and how
// long it stays open.
const (
	circuitFailures = 5
	circuitPause    = 5 * time.Second
)

func newDatabase(c Config) *postgrest.Client { return postgrest.New(c.RESTURL, c.key(), c.Schema) }

func newModel(c Config) *openai.Client {
	settings := modelConfig(c)
	settings.Notice = slog.Info
	return openai.New(settings)
}

func modelConfig(c Config) openai.Config {
	return openai.Config{
		BaseURL: c.OpenAIBaseURL, APIKey: c.OpenAIKey, EmbeddingModel: c.EmbeddingModel, Dimensions: c.EmbeddingDimensions, ChatModel: c.ChatModel,
		ThinksApart:    strings.HasPrefix(c.OpenAIBaseURL, openAI),
		AttemptTimeout: c.ModelTimeout, MaxRetries: modelRetries, CircuitFailures: circuitFailures, CircuitPause: circuitPause,
	}
}

func newIndexer(model index.Model) (*index.Indexer, error) {
	measure, err := tokenizer.Load()
	if err != nil {
		return nil, err
	}
	return index.New(model, measure), nil
}

func workerOptions(c Config, warn func(context.Context, string, error)) worker.Options {
	return worker.Options{Concurrency: c.WorkerConcurrency, Warn: warn}
}

func (p *process) newWorker(indexer *index.Indexer) *worker.Worker {
	options := workerOptions(p.Config, p.warnContext)
	options.Watch = p.observer.Batch
	return worker.New(p.database.AsService(), indexer, options)
}

// enrichConcurrency is the number of documents that the model reads concurrently.
const enrichConcurrency = 4

// newEnricher returns an Enricher whose batches take at most timeout, and less within a request.
func newEnricher(c Config, model enrich.Model, timeout time.Duration, warn func(string, error)) *enrich.Enricher {
	return enrich.New(model, enrich.Options{PerMinute: c.EnrichPerMinute, Concurrency: enrichConcurrency, Timeout: timeout, Warn: warn})
}

// newQueryLog starts the query log, or returns nil if it is off. It writes as the service, because
// callers may not.
func (p *process) newQueryLog() *querylog.Log {
	if p.QueryLogRetention == 0 {
		return nil
	}
	return querylog.New(p.database.AsService(), querylog.Options{RetentionDays: p.QueryLogRetention, Warn: p.lost(observe.LostQueryLog, "queries are missing in the query log")})
}

const (
	// cacheBytes bounds the cache in memory.
	cacheBytes = 64 << 20
	// cacheLifetime bounds the life of cached responses, which become unreachable with the first edit.
	cacheLifetime = time.Hour
	// redisPatience is the maximum time that a request waits for Redis: recomputing takes not much
	// longer.
	redisPatience = 50 * time.Millisecond
)

// newRedis returns what all instances share, or nil if there is no Redis.
func (p *process) newRedis() (*shared.Redis, error) {
	if p.RedisURL == "" {
		return nil, nil
	}
	if p.Cache == "on" && builtFrom() == "" {
		p.log.Warn("this build has no revision, so no other process uses its cached responses: build from a clean checkout, or with -ldflags \"-X main.revision=NAME\"")
	}
	return shared.NewRedis(p.RedisURL, redisPatience, p.warn)
}

// newCache returns the caches of responses, nil if it is off, and of the embeddings of queries.
func (p *process) newCache(redis *shared.Redis) (*memo.Memo, *memo.Embeddings, error) {
	if p.Cache == "off" {
		return nil, memo.NewEmbeddings(p.model, p.OpenAIBaseURL, nil, nil), nil
	}
	var store memo.Store = redis
	if redis == nil {
		memory, err := shared.NewMemory(cacheBytes)
		if err != nil {
			return nil, nil, err
		}
		store = memory
	}
	return memo.New(memo.Options{
		Store: store, Settings: settingsOfResults(p.Config, cacheRevision()), Lifetime: cacheLifetime, Count: p.observer.Cached,
	}), memo.NewEmbeddings(p.model, p.OpenAIBaseURL, store, p.observer.Cached), nil
}

// settingsOfResults names everything besides the request and the data that affects a response: the
// settings and the program's revision with its prompts. A new release therefore never reads the
// cache of an older one.
func settingsOfResults(c Config, revision string) string {
	return fmt.Sprintf("%q %v %d", []string{revision, c.RESTURL, c.OpenAIBaseURL, c.storedModel(), c.ChatModel, c.Fusion}, c.VectorWeight, c.AnswerTokens)
}

// How long a client may take to send headers and a body, to read a response, and between requests.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 90 * time.Second
)

// newLimits returns the limits on callers.
func (p *process) newLimits(redis *shared.Redis) (api.Limits, error) {
	limits := api.Limits{
		InFlight: p.MaxInFlight, Origins: p.origins(),
		HeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	switch policy, err := p.rate(); {
	case err != nil:
		return limits, err
	case policy != nil:
		limits.Rate = shared.NewLimiter(*policy, redis)
	}
	return limits, nil
}

// newConsole returns the page at /, or nil if it is off.
func newConsole(c Config) (*console.Console, error) {
	if c.Console == "off" {
		return nil, nil
	}
	options := console.Options{Auth: c.Auth != "off", TicketURL: c.TicketURL}
	if options.Auth && c.PublishableKey != "" {
		options.SupabaseURL, options.PublishableKey = strings.TrimRight(c.SupabaseURL, "/"), c.PublishableKey
	}
	return console.New(options)
}

// newVerifier returns the verifier of callers' tokens, or nil if AUTH is off.
func newVerifier(c Config) *identity.Verifier {
	if c.Auth == "off" {
		return nil
	}
	auth := identity.IssuerOf(c.SupabaseURL)
	options := identity.Options{
		Issuers: c.issuers(), KeySetURL: cmp.Or(c.JWKSURL, auth+"/.well-known/jwks.json"), Secret: []byte(c.JWTSecret), ServiceKey: c.key(),
	}
	if c.JWKSURL == "off" {
		options.KeySetURL = ""
	}
	if c.Auth == "strict" {
		options.SupabaseURL = c.SupabaseURL
	}
	return identity.New(options)
}
