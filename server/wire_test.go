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

	"tasklens/internal/testbed"
	"tasklens/scripts/lab/gateway"
	"tasklens/server/observe"
)

// discarding returns a process that logs nowhere.
func discarding(c Config) *process {
	return &process{Config: c, log: slog.New(slog.DiscardHandler), observer: observe.New(), model: newModel(c), database: newDatabase(c)}
}

// With Redis, instances share the counts of rate limits.
func TestInstancesShareRedis(t *testing.T) {
	t.Parallel()
	url, _ := testbed.Redis(t)
	// Each instance alone would allow two. If Redis is slow, it is skipped.
	for range 200 {
		limits, err := discarding(Config{Auth: "on", RateLimit: "2/1h", RedisURL: url}).newLimits()
		if err != nil {
			t.Fatal(err)
		}
		if !limits.Rate.Take(t.Context(), "somebody").Allowed {
			return
		}
	}
	t.Error("200 instances allow a request each")
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
	config := Config{Auth: "on", SupabaseURL: supabase.URL + "/", SecretKey: "k", JWTSecret: secret}
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
	config.Auth = "strict"
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
