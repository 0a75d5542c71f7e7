package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"tasklens/internal/cache"
	"tasklens/internal/openai"
	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// Config holds all settings, read once from the environment. docs/settings.md documents them.
type Config struct {
	Host string `env:"HOST" envDefault:"127.0.0.1"`
	Port int    `env:"PORT" envDefault:"8080"`

	Auth       string `env:"AUTH" envDefault:"off"`
	AuthStrict string `env:"AUTH_STRICT" envDefault:"off"`
	JWKSURL    string `env:"SUPABASE_JWKS_URL"` // "": where Supabase Auth serves it; off: there is none
	JWTSecret  string `env:"SUPABASE_JWT_SECRET"`
	JWTIssuer  string `env:"SUPABASE_JWT_ISSUER"` // "": Supabase Auth

	Console        string `env:"CONSOLE" envDefault:"on"`
	PublishableKey string `env:"SUPABASE_PUBLISHABLE_KEY"` // the console signs users in to Supabase Auth with it

	PublicURL string `env:"PUBLIC_URL"` // "": as a request names the service

	CORSOrigins string `env:"CORS_ORIGINS"`
	RateLimit   string `env:"RATE_LIMIT" envDefault:"auto"`
	MaxInFlight int    `env:"MAX_IN_FLIGHT" envDefault:"256"`

	SupabaseURL    string `env:"SUPABASE_URL"`
	RESTURL        string `env:"SUPABASE_REST_URL"` // default: SUPABASE_URL/rest/v1
	ServiceRoleKey string `env:"SUPABASE_SERVICE_ROLE_KEY"`
	SecretKey      string `env:"SUPABASE_SECRET_KEY"`

	OpenAIBaseURL       string `env:"OPENAI_BASE_URL" envDefault:"https://api.openai.com/v1"`
	OpenAIKey           string `env:"OPENAI_API_KEY"`
	EmbeddingModel      string `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	EmbeddingDimensions int    `env:"EMBEDDING_DIMENSIONS"` // 0: the model's default
	ChatModel           string `env:"CHAT_MODEL" envDefault:"gpt-4o-mini"`

	MatchThreshold *float64 `env:"MATCH_THRESHOLD"` // nil: the threshold fitted to the model
	VectorWeight   float64  `env:"VECTOR_WEIGHT" envDefault:"1"`
	KeywordWeight  float64  `env:"KEYWORD_WEIGHT" envDefault:"1"`
	Fusion         string   `env:"FUSION" envDefault:"rrf"`

	Worker            string `env:"WORKER" envDefault:"on"`
	WorkerConcurrency int    `env:"WORKER_CONCURRENCY" envDefault:"4"`
	WorkerAttempts    int    `env:"WORKER_ATTEMPTS" envDefault:"10"`

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
	problems, unread := unreadable(err)
	if c.RESTURL == "" {
		c.RESTURL = strings.TrimRight(c.SupabaseURL, "/") + "/rest/v1"
	}
	for _, problem := range c.problems() {
		// A setting that could not be parsed is zero here. Do not report it twice.
		if name, _, _ := strings.Cut(problem.Error(), " "); !slices.Contains(unread, name) {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return c, fmt.Errorf("the settings are not right (docs/settings.md lists them):\n%w", errors.Join(problems...))
	}
	return c, nil
}

// unreadable returns the settings that could not be parsed, by their environment names.
func unreadable(err error) (problems []error, names []string) {
	var all env.AggregateError
	if !errors.As(err, &all) {
		if err != nil {
			problems = append(problems, err)
		}
		return problems, nil
	}
	for _, err := range all.Errors {
		var wrong env.ParseError
		if !errors.As(err, &wrong) {
			problems = append(problems, err)
			continue
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(wrong.Name)
		name := field.Tag.Get("env")
		names = append(names, name)
		kind := "a number"
		switch wrong.Type {
		case reflect.TypeFor[int](), reflect.TypeFor[int64]():
			kind = "a whole number"
		case reflect.TypeFor[bool]():
			kind = "true or false"
		case reflect.TypeFor[time.Duration]():
			kind = "a duration such as 30s"
		}
		problems = append(problems, fmt.Errorf("%s must be %s: %w", name, kind, wrong.Err))
	}
	return problems, names
}

func (c Config) problems() (problems []error) {
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrong(c.Port < 0 || c.Port > 65535, "PORT must be 0 to 65535, not %d", c.Port)
	c.accessProblems(wrong)
	wrong(!isHTTP(c.SupabaseURL), "SUPABASE_URL must be the http(s) address of a Supabase project")
	wrong(isHTTP(c.SupabaseURL) && !isHTTP(c.RESTURL), "SUPABASE_REST_URL must be an http(s) address")
	wrong(c.key() == "", "SUPABASE_SERVICE_ROLE_KEY (or SUPABASE_SECRET_KEY) must be set")
	wrong(!isHTTP(c.OpenAIBaseURL), "OPENAI_BASE_URL must be an http(s) address")
	wrong(c.OpenAIKey == "" && strings.HasPrefix(c.OpenAIBaseURL, "https://api.openai.com"), "OPENAI_API_KEY must be set, or OPENAI_BASE_URL name a server that needs none")
	wrong(c.EmbeddingModel == "", "EMBEDDING_MODEL must not be empty")
	wrong(c.EmbeddingDimensions < 0 || c.EmbeddingDimensions > vector.Dimensions, "EMBEDDING_DIMENSIONS must be 0 to %d, not %d", vector.Dimensions, c.EmbeddingDimensions)
	wrong(c.ChatModel == "", "CHAT_MODEL must not be empty")
	if c.MatchThreshold != nil {
		wrong(!(*c.MatchThreshold >= 0 && *c.MatchThreshold <= 1), "MATCH_THRESHOLD must be 0 to 1, not %v", *c.MatchThreshold)
	}
	wrong(!(c.VectorWeight >= 0 && c.VectorWeight <= 100), "VECTOR_WEIGHT must be 0 to 100, not %v", c.VectorWeight)
	wrong(!(c.KeywordWeight >= 0 && c.KeywordWeight <= 100), "KEYWORD_WEIGHT must be 0 to 100, not %v", c.KeywordWeight)
	wrong(c.Fusion != search.RRF && c.Fusion != search.Convex, "FUSION must be rrf or convex, not %q", c.Fusion)
	wrong(c.Worker != "on" && c.Worker != "off", "WORKER must be on or off, not %q", c.Worker)
	wrong(c.WorkerConcurrency < 1 || c.WorkerConcurrency > 64, "WORKER_CONCURRENCY must be 1 to 64, not %d", c.WorkerConcurrency)
	wrong(c.WorkerAttempts < 1 || c.WorkerAttempts > 100, "WORKER_ATTEMPTS must be 1 to 100, not %d", c.WorkerAttempts)
	wrong(c.EnrichPerMinute < 1 || c.EnrichPerMinute > 100_000, "ENRICH_REQUESTS_PER_MINUTE must be 1 to 100000, not %d", c.EnrichPerMinute)
	wrong(c.RequestTimeout < time.Second || c.RequestTimeout > 10*time.Minute, "REQUEST_TIMEOUT must be 1s to 10m, not %v", c.RequestTimeout)
	wrong(c.ModelTimeout < time.Second || c.ModelTimeout > 10*time.Minute, "MODEL_TIMEOUT must be 1s to 10m, not %v", c.ModelTimeout)
	wrong(c.DrainTimeout < 0 || c.DrainTimeout > 10*time.Minute, "DRAIN_TIMEOUT must be 0s to 10m, not %v", c.DrainTimeout)
	wrong(c.QueryLogRetention < 0 || c.QueryLogRetention > 3650, "QUERY_LOG_RETENTION must be 0 to 3650 days, not %d", c.QueryLogRetention)
	wrong(c.Cache != "on" && c.Cache != "off", "CACHE must be on or off, not %q", c.Cache)
	// Omit the URL, which may contain a password.
	wrong(c.RedisURL != "" && !cache.IsRedisURL(c.RedisURL), "REDIS_URL must be of the form redis://user:password@host:port/0 (rediss:// with TLS)")
	wrong(c.LogFormat != "text" && c.LogFormat != "json", "LOG_FORMAT must be text or json, not %q", c.LogFormat)
	_, known := logLevels[c.LogLevel]
	wrong(!known, "LOG_LEVEL must be debug, info, warn or error, not %q", c.LogLevel)
	wrong(c.MetricsAddress != "" && c.MetricsAddress != metricsOff && !isAddress(c.MetricsAddress), "METRICS_ADDRESS must be off, or an address to listen on such as 127.0.0.1:9464, not %q", c.MetricsAddress)
	wrong(c.OTelEndpoint != "" && !isHTTP(c.OTelEndpoint), "OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) address")
	return problems
}

// metricsOff is the value of METRICS_ADDRESS that turns metrics off.
const metricsOff = "off"

// metricsHere reports whether the service serves metrics on its own port. They need no token, so
// only on loopback.
func (c Config) metricsHere() bool { return c.MetricsAddress == "" && c.Auth == "off" }

// traces reports whether traces are on.
func (c Config) traces() bool {
	return c.OTelEndpoint != ""
}

// storedModel is the name under which embeddings are stored.
func (c Config) storedModel() string {
	return openai.StoredModel(c.EmbeddingModel, c.EmbeddingDimensions)
}

// key is the service key, of the newer kind if both are set.
func (c Config) key() string {
	if c.SecretKey != "" {
		return c.SecretKey
	}
	return c.ServiceRoleKey
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}

// isAddress reports whether a text has a host and a port. A missing host would mean all interfaces,
// which must be chosen explicitly.
func isAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func isHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
