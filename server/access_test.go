package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/limit"
)

var onlyNeeded = map[string]string{"SUPABASE_URL": "http://127.0.0.1:1/", "SUPABASE_SECRET_KEY": "k", "OPENAI_API_KEY": "k"}

// With callers known, it may listen anywhere; what else it cannot do without is named.
func TestConfigWithAuth(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		problem  string
	}{
		"on":                       {[]string{"AUTH", "on"}, ""},
		"on, for all the world":    {[]string{"AUTH", "on", "HOST", "0.0.0.0"}, ""},
		"off, for all the world":   {[]string{"AUTH", "off", "HOST", "0.0.0.0"}, "HOST"},
		"strict":                   {[]string{"AUTH", "on", "AUTH_STRICT", "on"}, ""},
		"strict with nobody":       {[]string{"AUTH_STRICT", "on"}, "AUTH_STRICT"},
		"the older kind alone":     {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off", "SUPABASE_JWT_SECRET", strings.Repeat("s", 32)}, ""},
		"no kind at all":           {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off"}, "SUPABASE_JWT_SECRET"},
		"a secret that is short":   {[]string{"AUTH", "on", "SUPABASE_JWT_SECRET", strings.Repeat("s", 31)}, "SUPABASE_JWT_SECRET"},
		"origins":                  {[]string{"CORS_ORIGINS", "https://example.com, http://localhost:3000"}, ""},
		"every origin":             {[]string{"CORS_ORIGINS", "*"}, "CORS_ORIGINS"},
		"a pattern":                {[]string{"CORS_ORIGINS", "https://*.example.com"}, "CORS_ORIGINS"},
		"an origin with a path":    {[]string{"CORS_ORIGINS", "https://example.com/"}, "CORS_ORIGINS"},
		"an origin without scheme": {[]string{"CORS_ORIGINS", "example.com"}, "CORS_ORIGINS"},
		"an opaque origin":         {[]string{"CORS_ORIGINS", "null"}, "CORS_ORIGINS"},
		"a rate":                   {[]string{"RATE_LIMIT", "10/1s"}, ""},
		"no rate":                  {[]string{"RATE_LIMIT", "0/1s"}, "RATE_LIMIT"},
		"a rate of no period":      {[]string{"RATE_LIMIT", "10"}, "RATE_LIMIT"},
		"a rate of a short period": {[]string{"RATE_LIMIT", "10/1ms"}, "RATE_LIMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			setEnvironment(t, with(onlyNeeded, c.settings...))
			_, err := readConfig()
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), "\n"+c.problem)) {
				t.Errorf("the problem is %v, want one of %q", err, c.problem)
			}
		})
	}
}

func TestOriginsAndRatesAreRead(t *testing.T) {
	t.Parallel()
	if got := (Config{CORSOrigins: " https://example.com ,,http://localhost:3000"}).origins(); !slices.Equal(got, []string{"https://example.com", "http://localhost:3000"}) {
		t.Errorf("origins are %q", got)
	}
	for _, c := range []struct {
		auth, rate string
		want       *limit.Policy
	}{
		{"off", "auto", nil}, {"on", "auto", &usualRate}, {"on", "off", nil}, {"off", "30/1m", &limit.Policy{Requests: 30, Period: time.Minute}},
	} {
		config := Config{Auth: c.auth, RateLimit: c.rate}
		got, err := config.rate()
		if err != nil || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("AUTH=%s RATE_LIMIT=%s: %v (%v)", c.auth, c.rate, got, err)
		}
		limits, closing, err := newLimits(config, slog.New(slog.DiscardHandler))
		if err != nil || (limits.Rate == nil) != (c.want == nil) || closing() != nil {
			t.Errorf("AUTH=%s RATE_LIMIT=%s: %+v (%v)", c.auth, c.rate, limits, err)
		}
	}
}
