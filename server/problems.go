package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/golang-jwt/jwt/v5"

	"tasklens/internal/identity"
	"tasklens/internal/limit"
	"tasklens/internal/search"
	"tasklens/internal/vector"
)

// minSecretBytes is the minimum for HS256 (RFC 7518, section 3.2), which Supabase's secrets meet.
const minSecretBytes = 32

// problems are what is wrong with settings, one problem for each.
type problems struct {
	errors []error
	names  []string
}

// add reports a setting, unless it is reported already: one that could not be read is zero here.
func (p *problems) add(wrong bool, name, format string, args ...any) {
	if wrong && !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
		p.errors = append(p.errors, fmt.Errorf(name+" must "+format, args...))
	}
}

func (p *problems) oneOf(name, value string, values ...string) {
	p.add(!slices.Contains(values, value), name, "be %s, not %q", strings.Join(values, " or "), value)
}

func within[T cmp.Ordered](p *problems, name string, value, least, most T) {
	p.add(!(value >= least && value <= most), name, "be %v to %v, not %v", least, most, value)
}

// unreadable reports the settings that could not be parsed.
func (p *problems) unreadable(err error) {
	kinds := map[reflect.Type]string{reflect.TypeFor[int](): "a whole number", reflect.TypeFor[time.Duration](): "a duration such as 30s"}
	var all env.AggregateError
	errors.As(err, &all)
	for _, err := range all.Errors {
		var wrong env.ParseError
		if !errors.As(err, &wrong) {
			p.errors = append(p.errors, err)
			continue
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(wrong.Name)
		p.add(true, field.Tag.Get("env"), "be %s: %w", cmp.Or(kinds[wrong.Type], "a number"), wrong.Err)
	}
}

// check returns all problems of the settings, those that could not be parsed first.
func (c Config) check(unread error) error {
	var p problems
	p.unreadable(unread)
	within(&p, "PORT", c.Port, 0, 65535)
	p.oneOf("AUTH", c.Auth, "on", "strict", "off")
	p.add(c.Auth == "off" && !isLoopback(c.Host), "HOST", "be a loopback address such as 127.0.0.1 while AUTH is off, not %q", c.Host)
	p.add(c.JWKSURL != "" && c.JWKSURL != "off" && !isHTTP(c.JWKSURL), "SUPABASE_JWKS_URL", "be an http(s) address, or off")
	isOdd := func(issuer string) bool { return issuer != identity.NoIssuer && !isHTTP(issuer) }
	p.add(c.JWTIssuer != "" && (len(c.issuers()) == 0 || slices.ContainsFunc(c.issuers(), isOdd)), "SUPABASE_JWT_ISSUER", "be a list of http(s) addresses, with none for tokens that name no issuer, not %q", c.JWTIssuer)
	p.add(c.Auth != "off" && c.JWKSURL == "off" && c.JWTSecret == "", "SUPABASE_JWT_SECRET", "be set where AUTH is on and SUPABASE_JWKS_URL is off: no token could be verified")
	p.add(c.JWTSecret != "" && len(c.JWTSecret) < minSecretBytes, "SUPABASE_JWT_SECRET", "have at least %d bytes", minSecretBytes)
	p.oneOf("CONSOLE", c.Console, "on", "off")
	p.add(!mayBePublished(c.PublishableKey, c.key()), "SUPABASE_PUBLISHABLE_KEY", "be the project's publishable (or anon) key: it is shown to everyone, and this one is secret")
	p.add(c.TicketURL != "" && !(isHTTP(strings.ReplaceAll(c.TicketURL, "{key}", "TX-1")) && strings.Contains(c.TicketURL, "{key}")), "TICKET_URL", "be an http(s) address with {key} in it, such as https://example.atlassian.net/browse/{key}, not %q", c.TicketURL)
	p.add(c.PublicURL != "" && !isOrigin(c.PublicURL), "PUBLIC_URL", "be an address such as https://search.example.com, without a path, not %q", c.PublicURL)
	for _, origin := range c.origins() {
		p.add(!isOrigin(origin), "CORS_ORIGINS", "be a list of origins such as https://example.com,https://example.org, not %q: * would let any website call the service", origin)
	}
	_, err := c.rate()
	p.add(err != nil, "RATE_LIMIT", "be auto, off, or of the form 1200/1m (1 to 100000 requests in 1s to 24h), not %q", c.RateLimit)
	p.add(c.MaxInFlight < 0, "MAX_IN_FLIGHT", "be 0 (off) or more, not %d", c.MaxInFlight)
	p.add(!isHTTP(c.SupabaseURL), "SUPABASE_URL", "be the http(s) address of a Supabase project")
	p.add(isHTTP(c.SupabaseURL) && !isHTTP(c.RESTURL), "SUPABASE_REST_URL", "be an http(s) address")
	p.add(!schemaName.MatchString(c.Schema), "SUPABASE_SCHEMA", "be the schema of supabase/apply --schema (small letters, digits and _), not %q", c.Schema)
	p.add(c.key() == "", "SUPABASE_SERVICE_ROLE_KEY", "be set, or SUPABASE_SECRET_KEY")
	p.add(!isHTTP(c.OpenAIBaseURL), "OPENAI_BASE_URL", "be an http(s) address")
	p.add(c.OpenAIKey == "" && strings.HasPrefix(c.OpenAIBaseURL, openAI), "OPENAI_API_KEY", "be set, or OPENAI_BASE_URL name a server that needs none")
	p.add(c.EmbeddingModel == "", "EMBEDDING_MODEL", "not be empty")
	within(&p, "EMBEDDING_DIMENSIONS", c.EmbeddingDimensions, 0, vector.Dimensions)
	p.add(c.ChatModel == "", "CHAT_MODEL", "not be empty")
	within(&p, "ANSWER_TOKENS", c.AnswerTokens, 100, 100_000)
	if c.MatchThreshold != nil {
		within(&p, "MATCH_THRESHOLD", *c.MatchThreshold, 0, 1)
	}
	within(&p, "VECTOR_WEIGHT", c.VectorWeight, 0, 100)
	p.oneOf("FUSION", c.Fusion, search.RRF, search.Convex)
	p.oneOf("WORKER", c.Worker, "on", "off")
	within(&p, "WORKER_CONCURRENCY", c.WorkerConcurrency, 1, 64)
	within(&p, "ENRICH_REQUESTS_PER_MINUTE", c.EnrichPerMinute, 1, 100_000)
	within(&p, "REQUEST_TIMEOUT", c.RequestTimeout, time.Second, 10*time.Minute)
	within(&p, "MODEL_TIMEOUT", c.ModelTimeout, time.Second, 10*time.Minute)
	within(&p, "DRAIN_TIMEOUT", c.DrainTimeout, 0, 10*time.Minute)
	within(&p, "QUERY_LOG_RETENTION", c.QueryLogRetention, 0, 3650)
	p.oneOf("CACHE", c.Cache, "on", "off")
	// Omit the URL, which may contain a password.
	p.add(c.RedisURL != "" && !limit.IsRedisURL(c.RedisURL), "REDIS_URL", "be of the form redis://user:password@host:port/0 (rediss:// with TLS)")
	p.oneOf("LOG_FORMAT", c.LogFormat, "text", "json")
	p.oneOf("LOG_LEVEL", c.LogLevel, "debug", "info", "warn", "error")
	p.add(c.MetricsAddress != "" && c.MetricsAddress != metricsOff && !isAddress(c.MetricsAddress), "METRICS_ADDRESS", "be off, or an address to listen on such as 127.0.0.1:9464, not %q", c.MetricsAddress)
	p.add(c.OTelEndpoint != "" && !isHTTP(c.OTelEndpoint), "OTEL_EXPORTER_OTLP_ENDPOINT", "be an http(s) address")
	return errors.Join(p.errors...)
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

// schemaName is what supabase/apply accepts.
var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// isOrigin reports whether a text is an origin as browsers write it (RFC 6454, section 6.2).
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isHTTP(text) && text == strings.ToLower(u.Scheme+"://"+u.Host) && !strings.Contains(u.Host, "*")
}

// mayBePublished rejects keys with the service's rights: anybody can read a key in a page.
func mayBePublished(key, secret string) bool {
	claims := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(key, claims)
	older := err == nil && claims["role"] == identity.RoleService
	return key == "" || key != secret && !strings.HasPrefix(key, "sb_secret_") && !older
}
