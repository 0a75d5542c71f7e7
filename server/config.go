package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"tasklens/internal/identity"
	"tasklens/internal/limit"
	"tasklens/internal/openai"
)

// Config holds all settings, read once from the environment. docs/settings.md documents them.
type Config struct {
	Host string `env:"HOST" envDefault:"127.0.0.1"`
	Port int    `env:"PORT" envDefault:"8080"`

	Auth      string `env:"AUTH" envDefault:"off"` // strict: on, for sessions that Supabase Auth knows
	JWKSURL   string `env:"SUPABASE_JWKS_URL"`     // "": where Supabase Auth serves it; off: there is none
	JWTSecret string `env:"SUPABASE_JWT_SECRET"`
	JWTIssuer string `env:"SUPABASE_JWT_ISSUER"` // several, and none; "": Supabase Auth

	Console        string `env:"CONSOLE" envDefault:"on"`
	PublishableKey string `env:"SUPABASE_PUBLISHABLE_KEY"` // the console signs users in to Supabase Auth with it
	TicketURL      string `env:"TICKET_URL"`               // a ticket in the tracker, with {key}; "": no links

	PublicURL string `env:"PUBLIC_URL"` // "": as a request names the service

	CORSOrigins string `env:"CORS_ORIGINS"`
	RateLimit   string `env:"RATE_LIMIT" envDefault:"auto"`
	MaxInFlight int    `env:"MAX_IN_FLIGHT" envDefault:"256"`

	SupabaseURL    string `env:"SUPABASE_URL"`
	RESTURL        string `env:"SUPABASE_REST_URL"` // default: SUPABASE_URL/rest/v1
	Schema         string `env:"SUPABASE_SCHEMA" envDefault:"public"`
	ServiceRoleKey string `env:"SUPABASE_SERVICE_ROLE_KEY"`
	SecretKey      string `env:"SUPABASE_SECRET_KEY"`

	OpenAIBaseURL       string `env:"OPENAI_BASE_URL" envDefault:"https://api.openai.com/v1"`
	OpenAIKey           string `env:"OPENAI_API_KEY"`
	EmbeddingModel      string `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	EmbeddingDimensions int    `env:"EMBEDDING_DIMENSIONS"` // 0: the model's default
	ChatModel           string `env:"CHAT_MODEL" envDefault:"gpt-4o-mini"`
	AnswerTokens        int    `env:"ANSWER_TOKENS" envDefault:"800"` // that the chat model may write, thoughts included

	MatchThreshold *float64 `env:"MATCH_THRESHOLD"` // nil: the threshold fitted to the model
	VectorWeight   float64  `env:"VECTOR_WEIGHT" envDefault:"1"`
	Fusion         string   `env:"FUSION" envDefault:"rrf"`

	Worker            string `env:"WORKER" envDefault:"on"`
	WorkerConcurrency int    `env:"WORKER_CONCURRENCY" envDefault:"4"`

	EnrichPerMinute int `env:"ENRICH_REQUESTS_PER_MINUTE" envDefault:"200"`

	RequestTimeout time.Duration `env:"REQUEST_TIMEOUT" envDefault:"30s"`
	ModelTimeout   time.Duration `env:"MODEL_TIMEOUT" envDefault:"20s"`
	DrainTimeout   time.Duration `env:"DRAIN_TIMEOUT" envDefault:"10s"`

	QueryLogRetention int    `env:"QUERY_LOG_RETENTION" envDefault:"30"` // days; 0: there is no query log
	Cache             string `env:"CACHE" envDefault:"on"`
	RedisURL          string `env:"REDIS_URL"`

	LogFormat string `env:"LOG_FORMAT" envDefault:"text"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info"`

	MetricsAddress string `env:"METRICS_ADDRESS"` // "": where the service itself listens, while AUTH is off

	// Traces are on if this is set. OpenTelemetry's SDK reads its other settings.
	OTelEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
}

// readConfig reads and validates the environment. All problems are reported together, one per line.
func readConfig() (Config, error) {
	c, err := env.ParseAs[Config]()
	c.RESTURL = cmp.Or(c.RESTURL, strings.TrimRight(c.SupabaseURL, "/")+"/rest/v1")
	if err := c.check(err); err != nil {
		return c, fmt.Errorf("the settings are not right (docs/settings.md lists them):\n%w", err)
	}
	return c, nil
}

// metricsOff is the value of METRICS_ADDRESS that turns metrics off.
const metricsOff = "off"

// metricsHere reports whether the service serves metrics on its own port. They need no token, so
// only on loopback.
func (c Config) metricsHere() bool { return c.MetricsAddress == "" && c.Auth == "off" }

// storedModel is the name under which embeddings are stored.
func (c Config) storedModel() string {
	return openai.StoredModel(c.EmbeddingModel, c.EmbeddingDimensions)
}

// key is the service key, of the newer kind if both are set.
func (c Config) key() string { return cmp.Or(c.SecretKey, c.ServiceRoleKey) }

// origins are the origins whose pages may call the service.
func (c Config) origins() []string {
	return strings.Fields(strings.ReplaceAll(c.CORSOrigins, ",", " "))
}

// issuers are those of the tokens that are accepted.
func (c Config) issuers() []string {
	return strings.Fields(strings.ReplaceAll(cmp.Or(c.JWTIssuer, identity.IssuerOf(c.SupabaseURL)), ",", " "))
}

// usualRate is the default rate limit per caller when AUTH is on.
var usualRate = limit.Policy{Requests: 1200, Period: time.Minute}

// rate returns the rate limit per caller, or nil for none.
func (c Config) rate() (*limit.Policy, error) {
	switch {
	case c.RateLimit == "off" || c.RateLimit == "auto" && c.Auth == "off":
		return nil, nil
	case c.RateLimit == "auto":
		return &usualRate, nil
	}
	var policy limit.Policy
	var period string
	if _, err := fmt.Sscanf(c.RateLimit, "%d/%s", &policy.Requests, &period); err != nil {
		return nil, fmt.Errorf("read the rate: %w", err)
	}
	var err error
	if policy.Period, err = time.ParseDuration(period); err != nil {
		return nil, fmt.Errorf("read the period: %w", err)
	}
	if policy.Requests < 1 || policy.Requests > 100_000 || policy.Period < time.Second || policy.Period > 24*time.Hour {
		return nil, fmt.Errorf("%d requests in %v are out of range", policy.Requests, policy.Period)
	}
	return &policy, nil
}
