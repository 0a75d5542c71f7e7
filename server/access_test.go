package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/limit"
	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
)

var onlyNeeded = map[string]string{"SUPABASE_URL": "http://127.0.0.1:1/", "SUPABASE_SECRET_KEY": "k", "OPENAI_API_KEY": "k"}

// olderKey returns a legacy API key: a JWT with the role as a claim.
func olderKey(role string) string {
	key, err := gateway.Token([]byte(strings.Repeat("s", 32)), map[string]any{"role": role})
	if err != nil {
		panic(err)
	}
	return key
}

// With authentication on, the service may listen on any address. Missing settings are named.
func TestConfigWithAuth(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		problem  string
	}{
		"on":                             {[]string{"AUTH", "on"}, ""},
		"on, all addresses":              {[]string{"AUTH", "on", "HOST", "0.0.0.0"}, ""},
		"off, all addresses":             {[]string{"AUTH", "off", "HOST", "0.0.0.0"}, "HOST"},
		"strict":                         {[]string{"AUTH", "on", "AUTH_STRICT", "on"}, ""},
		"strict without auth":            {[]string{"AUTH_STRICT", "on"}, "AUTH_STRICT"},
		"JWT secret only":                {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off", "SUPABASE_JWT_SECRET", strings.Repeat("s", 32)}, ""},
		"no way to verify tokens":        {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off"}, "SUPABASE_JWT_SECRET"},
		"a short secret":                 {[]string{"AUTH", "on", "SUPABASE_JWT_SECRET", strings.Repeat("s", 31)}, "SUPABASE_JWT_SECRET"},
		"a publishable key":              {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x"}, ""},
		"a secret key":                   {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "sb_secret_x"}, "SUPABASE_PUBLISHABLE_KEY"},
		"the service's own key":          {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "k"}, "SUPABASE_PUBLISHABLE_KEY"},
		"a service_role JWT":             {[]string{"SUPABASE_PUBLISHABLE_KEY", olderKey("service_role")}, "SUPABASE_PUBLISHABLE_KEY"},
		"an anon JWT":                    {[]string{"SUPABASE_PUBLISHABLE_KEY", olderKey("anon")}, ""},
		"origins":                        {[]string{"CORS_ORIGINS", "https://example.com, http://localhost:3000"}, ""},
		"every origin":                   {[]string{"CORS_ORIGINS", "*"}, "CORS_ORIGINS"},
		"a pattern":                      {[]string{"CORS_ORIGINS", "https://*.example.com"}, "CORS_ORIGINS"},
		"an origin with a path":          {[]string{"CORS_ORIGINS", "https://example.com/"}, "CORS_ORIGINS"},
		"an origin without scheme":       {[]string{"CORS_ORIGINS", "example.com"}, "CORS_ORIGINS"},
		"an opaque origin":               {[]string{"CORS_ORIGINS", "null"}, "CORS_ORIGINS"},
		"a rate":                         {[]string{"RATE_LIMIT", "10/1s"}, ""},
		"a rate of zero":                 {[]string{"RATE_LIMIT", "0/1s"}, "RATE_LIMIT"},
		"a rate without a period":        {[]string{"RATE_LIMIT", "10"}, "RATE_LIMIT"},
		"a rate with too short a period": {[]string{"RATE_LIMIT", "10/1ms"}, "RATE_LIMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			setEnvironment(t, with(onlyNeeded, c.settings...))
			_, err := readConfig()
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), "\n"+c.problem)) {
				t.Errorf("error %v, want one about %q", err, c.problem)
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
		limits, closing, err := newLimits(config, 7, slog.New(slog.DiscardHandler))
		if err != nil || (limits.Rate == nil) != (c.want == nil) || closing() != nil {
			t.Errorf("AUTH=%s RATE_LIMIT=%s: %+v (%v)", c.auth, c.rate, limits, err)
		}
	}
}

// Settings that are not set default to the URLs of a Supabase project.
func TestTokensOfAProject(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var asked []string
	supabase := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		asked = append(asked, r.URL.Path)
		_, _ = io.WriteString(w, `{"keys":[]}`)
	}))
	defer supabase.Close()
	secret, user := strings.Repeat("s", 32), "0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11"
	// Tokens of `lab token` are accepted like those of Supabase Auth.
	claims, err := gateway.UserClaims(supabase.URL, "authenticated", user)
	if err != nil {
		t.Fatal(err)
	}
	token, err := gateway.Token([]byte(secret), claims)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.UserClaims(supabase.URL, "authenticated", "lena"); err == nil {
		t.Error("a token was issued for a user ID that is not a UUID")
	}
	config := Config{Auth: "on", AuthStrict: "off", SupabaseURL: supabase.URL + "/", SecretKey: "k", JWTSecret: secret}
	verifier := newVerifier(config)
	if caller, err := verifier.Verify(t.Context(), token); err != nil || caller.Subject != user {
		t.Errorf("%+v, %v", caller, err)
	}
	if caller, err := verifier.Verify(t.Context(), "k"); err != nil || !caller.IsService() {
		t.Errorf("%+v, %v", caller, err)
	}
	if err := verifier.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
	config.AuthStrict = "on"
	if _, err := newVerifier(config).Verify(t.Context(), token); err == nil {
		t.Error("a token of a user unknown to Auth was accepted")
	}
	if want := []string{"/auth/v1/.well-known/jwks.json", "/auth/v1/user"}; !slices.Equal(asked, want) {
		t.Errorf("requested paths are %q, want %q", asked, want)
	}
	config.JWTIssuer = "https://another.example.com"
	if _, err := newVerifier(config).Verify(t.Context(), token); err == nil {
		t.Error("a token of another issuer was accepted")
	}
	if newVerifier(Config{Auth: "off"}) != nil {
		t.Error("there is a verifier with AUTH=off")
	}
}

// With Redis, instances share the counts.
func TestLimitsAreShared(t *testing.T) {
	t.Parallel()
	url, _ := testbed.Redis(t)
	config := Config{Auth: "on", RateLimit: "2/1h", RedisURL: url}
	// Each instance alone would allow two. If Redis is slow, it is skipped, so a few more may pass.
	for range 200 {
		limits, closing, err := newLimits(config, 7, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		verdict := limits.Rate.Take(t.Context(), "somebody", 1)
		if err := closing(); err != nil {
			t.Error(err)
		}
		if !verdict.Allowed {
			return
		}
	}
	t.Error("each instance counts separately")
}
