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

// olderKey returns a project's key of the older kind, which names its role.
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
		"on":                       {[]string{"AUTH", "on"}, ""},
		"on, for all the world":    {[]string{"AUTH", "on", "HOST", "0.0.0.0"}, ""},
		"off, for all the world":   {[]string{"AUTH", "off", "HOST", "0.0.0.0"}, "HOST"},
		"strict":                   {[]string{"AUTH", "on", "AUTH_STRICT", "on"}, ""},
		"strict with nobody":       {[]string{"AUTH_STRICT", "on"}, "AUTH_STRICT"},
		"the older kind alone":     {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off", "SUPABASE_JWT_SECRET", strings.Repeat("s", 32)}, ""},
		"no kind at all":           {[]string{"AUTH", "on", "SUPABASE_JWKS_URL", "off"}, "SUPABASE_JWT_SECRET"},
		"a secret that is short":   {[]string{"AUTH", "on", "SUPABASE_JWT_SECRET", strings.Repeat("s", 31)}, "SUPABASE_JWT_SECRET"},
		"a key for everyone":       {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x"}, ""},
		"a key for servers":        {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "sb_secret_x"}, "SUPABASE_PUBLISHABLE_KEY"},
		"the service's own key":    {[]string{"AUTH", "on", "SUPABASE_PUBLISHABLE_KEY", "k"}, "SUPABASE_PUBLISHABLE_KEY"},
		"an older secret key":      {[]string{"SUPABASE_PUBLISHABLE_KEY", olderKey("service_role")}, "SUPABASE_PUBLISHABLE_KEY"},
		"an older public key":      {[]string{"SUPABASE_PUBLISHABLE_KEY", olderKey("anon")}, ""},
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
		t.Error("a token was made for what policies cannot read as a user's id")
	}
	config := Config{Auth: "on", AuthStrict: "off", SupabaseURL: supabase.URL + "/", SecretKey: "k", JWTSecret: secret}
	verifier := newVerifier(config)
	if caller, err := verifier.Verify(t.Context(), token); err != nil || caller.Subject != user {
		t.Errorf("%+v, %v", caller, err)
	}
	if caller, err := verifier.Verify(t.Context(), "k"); err != nil || !caller.IsService() {
		t.Errorf("%+v, %v", caller, err)
	}
	if err := verifier.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	config.AuthStrict = "on"
	if _, err := newVerifier(config).Verify(t.Context(), token); err == nil {
		t.Error("Auth knows no such user")
	}
	if want := []string{"/auth/v1/.well-known/jwks.json", "/auth/v1/user"}; !slices.Equal(asked, want) {
		t.Errorf("asked was %q, want %q", asked, want)
	}
	config.JWTIssuer = "https://another.example.com"
	if _, err := newVerifier(config).Verify(t.Context(), token); err == nil {
		t.Error("another's token was taken")
	}
	if newVerifier(Config{Auth: "off"}) != nil {
		t.Error("callers are known with AUTH=off")
	}
}

// With Redis, instances share the counts.
func TestLimitsAreShared(t *testing.T) {
	t.Parallel()
	url, _ := testbed.Redis(t)
	config := Config{Auth: "on", RateLimit: "2/1h", RedisURL: url}
	// Each instance alone would allow two. If Redis is slow, it is skipped, so a few more may pass.
	for range 200 {
		limits, closing, err := newLimits(config, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		verdict := limits.Rate.Take(t.Context(), "somebody")
		if err := closing(); err != nil {
			t.Error(err)
		}
		if !verdict.Allowed {
			return
		}
	}
	t.Error("each copy counts for itself")
}
