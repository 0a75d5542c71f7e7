package main

import (
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tasklens/internal/cache"
	"tasklens/internal/identity"
	"tasklens/internal/limit"
	"tasklens/server/api"
	"tasklens/server/console"
)

// minSecretBytes is the minimum for HS256 (RFC 7518, section 3.2), which Supabase's secrets meet.
const minSecretBytes = 32

// usualRate is the default rate limit per caller when AUTH is on.
var usualRate = limit.Policy{Requests: 1200, Period: time.Minute}

// accessProblems checks the settings for authentication, origins and rate limits.
func (c Config) accessProblems(wrong func(bad bool, format string, args ...any)) {
	wrong(c.Auth != "off" && c.Auth != "on", "AUTH must be off or on, not %q", c.Auth)
	wrong(c.Auth == "off" && !isLoopback(c.Host), "HOST must be a loopback address such as 127.0.0.1 while AUTH is off, not %q", c.Host)
	wrong(c.AuthStrict != "off" && c.AuthStrict != "on", "AUTH_STRICT must be off or on, not %q", c.AuthStrict)
	wrong(c.AuthStrict == "on" && c.Auth == "off", "AUTH_STRICT must be off while AUTH is off")
	wrong(c.JWKSURL != "" && c.JWKSURL != "off" && !isHTTP(c.JWKSURL), "SUPABASE_JWKS_URL must be an http(s) address, or off")
	wrong(c.JWTIssuer != "" && !isHTTP(c.JWTIssuer), "SUPABASE_JWT_ISSUER must be an http(s) address")
	wrong(c.Auth == "on" && c.JWKSURL == "off" && c.JWTSecret == "", "SUPABASE_JWT_SECRET must be set where AUTH is on and SUPABASE_JWKS_URL is off: no token could be verified")
	wrong(c.JWTSecret != "" && len(c.JWTSecret) < minSecretBytes, "SUPABASE_JWT_SECRET must have at least %d bytes", minSecretBytes)
	wrong(c.Console != "off" && c.Console != "on", "CONSOLE must be on or off, not %q", c.Console)
	wrong(!mayBePublished(c.PublishableKey, c.key()), "SUPABASE_PUBLISHABLE_KEY must be the project's publishable (or anon) key: it is shown to everyone, and this one is secret")
	wrong(c.PublicURL != "" && !isOrigin(c.PublicURL), "PUBLIC_URL must be an address such as https://search.example.com, without a path, not %q", c.PublicURL)
	for _, origin := range c.origins() {
		wrong(!isOrigin(origin), "CORS_ORIGINS must be a list of origins such as https://example.com,https://example.org, not %q: * would let any website call the service", origin)
	}
	_, err := c.rate()
	wrong(err != nil, "RATE_LIMIT must be auto, off, or of the form 1200/1m (1 to 100000 requests in 1s to 24h), not %q", c.RateLimit)
	wrong(c.MaxInFlight < 0, "MAX_IN_FLIGHT must be 0 (off) or more, not %d", c.MaxInFlight)
}

// isOrigin reports whether a text is an origin as browsers write it (RFC 6454, section 6.2).
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && text == strings.ToLower(u.Scheme+"://"+u.Host) && !strings.Contains(u.Host, "*")
}

// mayBePublished rejects keys with the service's rights: anybody can read a key in a page.
func mayBePublished(key, secret string) bool {
	if key == "" {
		return true
	}
	if key == secret || strings.HasPrefix(key, "sb_secret_") {
		return false
	}
	var role struct {
		jwt.RegisteredClaims
		Role string `json:"role"`
	}
	_, _, err := jwt.NewParser().ParseUnverified(key, &role)
	return err != nil || role.Role != identity.RoleService
}

// newConsole returns the page at /, or nil if it is off.
func newConsole(c Config) (*console.Console, error) {
	if c.Console == "off" {
		return nil, nil
	}
	options := console.Options{Auth: c.Auth == "on"}
	if options.Auth && c.PublishableKey != "" {
		options.SupabaseURL, options.PublishableKey = strings.TrimRight(c.SupabaseURL, "/"), c.PublishableKey
	}
	return console.New(options)
}

func (c Config) origins() (list []string) {
	for _, origin := range strings.Split(c.CORSOrigins, ",") {
		if origin = strings.TrimSpace(origin); origin != "" {
			list = append(list, origin)
		}
	}
	return list
}

// rate returns the rate limit per caller, or nil for none.
func (c Config) rate() (*limit.Policy, error) {
	switch {
	case c.RateLimit == "off" || c.RateLimit == "auto" && c.Auth == "off":
		return nil, nil
	case c.RateLimit == "auto":
		return &usualRate, nil
	}
	requests, period, _ := strings.Cut(c.RateLimit, "/")
	number, err := strconv.Atoi(requests)
	if err != nil {
		return nil, fmt.Errorf("read the number of requests: %w", err)
	}
	duration, err := time.ParseDuration(period)
	if err != nil {
		return nil, fmt.Errorf("read the period: %w", err)
	}
	if number < 1 || number > 100_000 || duration < time.Second || duration > 24*time.Hour {
		return nil, fmt.Errorf("%d requests in %v are out of range", number, duration)
	}
	return &limit.Policy{Requests: number, Period: duration}, nil
}

// newVerifier returns the verifier of callers' tokens, or nil if AUTH is off.
func newVerifier(c Config) *identity.Verifier {
	if c.Auth == "off" {
		return nil
	}
	base := identity.IssuerOf(c.SupabaseURL)
	options := identity.Options{Issuer: c.JWTIssuer, KeySetURL: c.JWKSURL, Secret: []byte(c.JWTSecret), ServiceKey: c.key()}
	if options.Issuer == "" {
		options.Issuer = base
	}
	switch options.KeySetURL {
	case "":
		options.KeySetURL = base + "/.well-known/jwks.json"
	case "off":
		options.KeySetURL = ""
	}
	if c.AuthStrict == "on" {
		options.SupabaseURL = c.SupabaseURL
	}
	return identity.New(options)
}

// How long a client may take to send headers and a body, to read a response, and between requests.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 90 * time.Second
)

// newLimits returns the limits on callers. closing releases their resources.
func newLimits(c Config, connections int, log *slog.Logger) (limits api.Limits, closing func() error, err error) {
	limits = api.Limits{
		InFlight: c.MaxInFlight, Connections: connections, Origins: c.origins(),
		HeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	closing = func() error { return nil }
	policy, err := c.rate()
	if err != nil || policy == nil {
		return limits, closing, err
	}
	if c.RedisURL == "" {
		limits.Rate = limit.New(*policy, nil)
		return limits, closing, nil
	}
	shared, err := cache.NewRedis(c.RedisURL, redisPatience, func(message string, err error) { log.Warn(message, "error", err) })
	if err != nil {
		return limits, closing, err
	}
	limits.Rate = limit.New(*policy, shared)
	return limits, shared.Close, nil
}
