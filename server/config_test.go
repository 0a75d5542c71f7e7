package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/internal/limit"
	"tasklens/scripts/lab/gateway"
)

// setEnvironment sets exactly these settings for the test.
func setEnvironment(t *testing.T, settings map[string]string) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name := field.Tag.Get("env")
		t.Setenv(name, "") // restores it when the test ends
		os.Unsetenv(name)
	}
	for name, value := range settings {
		t.Setenv(name, value)
	}
}

func TestConfigHasDefaults(t *testing.T) {
	setEnvironment(t, map[string]string{"SUPABASE_URL": "http://127.0.0.1:54321/", "SUPABASE_SERVICE_ROLE_KEY": "old", "OPENAI_API_KEY": "key"})
	got, err := readConfig()
	if err != nil || got.key() != "old" {
		t.Fatal(got.key(), err)
	}
	want := Config{
		Host: "127.0.0.1", Port: 8080, Auth: "off", Console: "on",
		RateLimit: "auto", MaxInFlight: 256,
		SupabaseURL: "http://127.0.0.1:54321/", RESTURL: "http://127.0.0.1:54321/rest/v1", ServiceRoleKey: "old", Schema: "public",
		OpenAIBaseURL: "https://api.openai.com/v1", OpenAIKey: "key", EmbeddingModel: "text-embedding-3-small", ChatModel: "gpt-4o-mini", AnswerTokens: 800,
		MatchThreshold: nil, VectorWeight: 1, Fusion: "rrf",
		Worker: "on", WorkerConcurrency: 4,
		EnrichPerMinute: 200,
		RequestTimeout:  30 * time.Second, ModelTimeout: 20 * time.Second, DrainTimeout: 10 * time.Second,
		QueryLogRetention: 30,
		Cache:             "on",
		LogFormat:         "text", LogLevel: "info",
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.SecretKey = "new"; got.key() != "new" {
		t.Error("the older key is preferred")
	}
}

// Every problem is reported at once, and once, by the setting's name; secrets are not repeated.
func TestConfigReportsEveryProblemAtOnce(t *testing.T) {
	settings := map[string]string{
		"PORT": "99999", "AUTH": "maybe", "SUPABASE_JWKS_URL": "nowhere", "SUPABASE_JWT_ISSUER": "nobody", "SUPABASE_JWT_SECRET": "correct horse",
		"CONSOLE": "maybe", "TICKET_URL": "https://jira.example.com/", "SUPABASE_PUBLISHABLE_KEY": "sb_secret_hunter2", "CORS_ORIGINS": "https://example.com,*", "RATE_LIMIT": "many", "MAX_IN_FLIGHT": "-1",
		"SUPABASE_URL": "nowhere", "OPENAI_BASE_URL": "nowhere", "ANSWER_TOKENS": "1",
		"MATCH_THRESHOLD": "NaN", "VECTOR_WEIGHT": "-1", "FUSION": "sum", "REQUEST_TIMEOUT": "1ms", "MODEL_TIMEOUT": "1ms",
		"WORKER": "maybe", "WORKER_CONCURRENCY": "0", "ENRICH_REQUESTS_PER_MINUTE": "0",
		"DRAIN_TIMEOUT": "1h", "QUERY_LOG_RETENTION": "-1", "CACHE": "maybe",
		"REDIS_URL": "redis://:hunter2@[", "LOG_FORMAT": "xml", "LOG_LEVEL": "loud",
		"METRICS_ADDRESS": ":9464", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318",
	}
	unreadable := map[string]string{"PORT": "abc", "MATCH_THRESHOLD": "high", "REQUEST_TIMEOUT": "30", "WORKER_CONCURRENCY": "2.5", "SUPABASE_URL": "http://127.0.0.1:54321", "LOG_LEVEL": "loud"}
	for _, c := range []struct {
		settings map[string]string
		problems []string // beside one of each setting
		fine     string
	}{
		{settings, []string{"SUPABASE_SERVICE_ROLE_KEY"}, ""},
		{unreadable, []string{"PORT must be a whole number", "MATCH_THRESHOLD must be a number", "REQUEST_TIMEOUT must be a duration",
			"WORKER_CONCURRENCY must be a whole number", "SUPABASE_SERVICE_ROLE_KEY", "OPENAI_API_KEY"}, "SUPABASE_URL"},
	} {
		setEnvironment(t, c.settings)
		_, err := readConfig()
		if err == nil {
			t.Fatal("an invalid configuration was accepted")
		}
		for name := range c.settings {
			if count := strings.Count(err.Error(), "\n"+name+" "); (count == 1) != (name != c.fine) {
				t.Errorf("%s is reported %d times in:\n%v", name, count, err)
			}
		}
		for _, want := range c.problems {
			if strings.Count(err.Error(), want) != 1 {
				t.Errorf("%q is not reported once in:\n%v", want, err)
			}
		}
		for _, secret := range []string{"hunter2", "correct horse"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error contains a secret:\n%v", err)
			}
		}
	}
}

// The setting lists issuers; none is for tokens without one.
func TestIssuers(t *testing.T) {
	for value, want := range map[string][]string{
		"": {"http://127.0.0.1:54321/auth/v1"}, "none": {"none"}, "http://localhost:8000, none": {"http://localhost:8000", "none"},
		"https://a.example.com,https://b.example.com/auth/v1": {"https://a.example.com", "https://b.example.com/auth/v1"},
		"nobody": nil, "None": nil, ",": nil, "none,nobody": nil,
	} {
		setEnvironment(t, map[string]string{"SUPABASE_URL": "http://127.0.0.1:54321", "SUPABASE_SECRET_KEY": "key", "OPENAI_API_KEY": "key", "SUPABASE_JWT_ISSUER": value})
		c, err := readConfig()
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(c.issuers(), want) || err != nil && !strings.Contains(err.Error(), "SUPABASE_JWT_ISSUER") {
			t.Errorf("%q: %q, %v", value, c.issuers(), err)
		}
	}
}

var onlyNeeded = map[string]string{"SUPABASE_URL": "http://127.0.0.1:1/", "SUPABASE_SECRET_KEY": "k", "OPENAI_API_KEY": "k"}

// olderKey returns a legacy API key: a JWT with the role as a claim.
func olderKey(role string) string {
	key, err := gateway.Token([]byte(strings.Repeat("s", 32)), map[string]any{"role": role})
	if err != nil {
		panic(err)
	}
	return key
}

// A setting that others contradict, or whose value is of no use, is named.
func TestConfigChecksSettings(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		problem  string
	}{
		"loopback":                       {[]string{"HOST", "127.8.0.1"}, ""},
		"loopback, version 6":            {[]string{"HOST", "::1"}, ""},
		"all addresses, version 6":       {[]string{"HOST", "::"}, "HOST"},
		"a name":                         {[]string{"HOST", "example.com"}, "HOST"},
		"no key of OpenAI":               {[]string{"OPENAI_API_KEY", ""}, "OPENAI_API_KEY"},
		"no key of another provider":     {[]string{"OPENAI_API_KEY", "", "OPENAI_BASE_URL", "http://127.0.0.1:1234/v1"}, ""},
		"a ticket's address":             {[]string{"TICKET_URL", "https://jira.example.com/browse/{key}"}, ""},
		"a ticket's address as a host":   {[]string{"TICKET_URL", "http://{key}.example.com"}, ""},
		"a ticket's address, no host":    {[]string{"TICKET_URL", "/browse/{key}"}, "TICKET_URL"},
		"a script as an address":         {[]string{"TICKET_URL", "javascript:alert('{key}')"}, "TICKET_URL"},
		"an address without a key":       {[]string{"TICKET_URL", "https://jira.example.com"}, "TICKET_URL"},
		"on":                             {[]string{"AUTH", "on"}, ""},
		"on, all addresses":              {[]string{"AUTH", "on", "HOST", "0.0.0.0"}, ""},
		"off, all addresses":             {[]string{"AUTH", "off", "HOST", "0.0.0.0"}, "HOST"},
		"strict":                         {[]string{"AUTH", "strict"}, ""},
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
		got, err := Config{Auth: c.auth, RateLimit: c.rate}.rate()
		if err != nil || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("AUTH=%s RATE_LIMIT=%s: %v (%v)", c.auth, c.rate, got, err)
		}
	}
}
