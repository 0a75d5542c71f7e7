package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/identity"
	"tasklens/internal/limit"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/querylog"
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

// newEnricher returns an Enricher whose batches take at most timeout, and less within a request.
func newEnricher(c Config, model enrich.Model, timeout time.Duration, warn func(context.Context, string, error)) *enrich.Enricher {
	return enrich.New(model, enrich.Options{PerMinute: c.EnrichPerMinute, Timeout: timeout, Warn: warn})
}

// newQueryLog starts the query log, or returns nil if it is off. It writes as the service, because
// callers may not.
func (p *process) newQueryLog() *querylog.Backlog[querylog.Entry] {
	if p.QueryLogRetention == 0 {
		return nil
	}
	return querylog.New(p.database.AsService(), p.QueryLogRetention, p.lost(observe.LostQueryLog, "queries are missing in the query log"))
}

const (
	// cacheBytes bounds the cache in memory.
	cacheBytes = 64 << 20
	// cacheLifetime bounds the life of cached responses, which become unreachable with the first edit.
	cacheLifetime = time.Hour
	// redisPatience is the maximum time that a request waits for Redis to count it.
	redisPatience = 50 * time.Millisecond
)

// newCache returns the caches of responses, nil if it is off, and of the embeddings of queries.
func (p *process) newCache() (*memo.Memo, *memo.Embeddings) {
	if p.Cache == "off" {
		return nil, memo.NewEmbeddings(p.model, nil, nil)
	}
	store := memo.NewMemory(cacheBytes)
	return memo.New(store, cacheLifetime, p.observer.Cached), memo.NewEmbeddings(p.model, store, p.observer.Cached)
}

// How long a client may take to send headers and a body, to read a response, and between requests.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 90 * time.Second
)

// newLimits returns the limits on callers. Rates are counted for all instances if there is a Redis.
func (p *process) newLimits() (api.Limits, error) {
	limits := api.Limits{
		InFlight: p.MaxInFlight, Origins: p.origins(),
		HeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	policy, err := p.rate()
	if err != nil || policy == nil {
		return limits, err
	}
	var redis *limit.Redis
	if p.RedisURL != "" {
		if redis, err = limit.NewRedis(p.RedisURL, redisPatience, p.warn); err != nil {
			return limits, err
		}
	}
	limits.Rate = limit.New(*policy, redis)
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
