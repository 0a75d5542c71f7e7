package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// counting starts a provider with one fixed response and counts its requests.
func counting(t *testing.T, handler http.HandlerFunc, config Config) (*Client, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	config.BaseURL, config.EmbeddingModel, config.ChatModel, config.ThinksApart = server.URL, "m", "m", true
	if config.AttemptTimeout == 0 {
		config.AttemptTimeout = time.Minute
	}
	return New(config), &asked
}

func headed(handler http.HandlerFunc, name, value string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		handler(w, r)
	}
}

// Failures of the provider open the circuit breaker. Rejections of a single request and rate limits
// do not.
func TestCircuit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		asked   int64 // requests in six calls
	}{
		"server error":          {say(500, "oops"), 3},
		"invalid JSON":          {say(200, "oops"), 3},
		"null":                  {say(200, "null"), 3},
		"nulls in the response": {say(200, `{"data":null,"choices":[null]}`), 3},
		"invalid key":           {say(401, `{"error":{"code":"invalid_api_key"}}`), 3},
		"quota":                 {say(429, `{"error":{"code":"insufficient_quota"}}`), 3},
		"broken connection":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 3},
		"rate limit":            {say(429, `{"error":{"code":"rate_limit_exceeded"}}`), 6},
		"invalid request":       {say(400, `{"error":{"code":"context_length_exceeded"}}`), 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for act, ask := range map[string]func(*Client) error{
				"embed": func(client *Client) error {
					_, _, err := client.Embed(t.Context(), client.EmbeddingModel(), []string{"a"})
					return err
				},
				"complete": func(client *Client) error {
					_, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1})
					return err
				},
				"stream": func(client *Client) error { _, _, err := told(client); return err },
			} {
				client, asked := counting(t, c.handler, Config{CircuitFailures: 3, CircuitPause: time.Hour})
				for range 6 {
					if code := fault.CodeOf(ask(client)); code != fault.Provider && code != fault.Unavailable {
						t.Errorf("%s: code is %s", act, code)
					}
				}
				if asked.Load() != c.asked {
					t.Errorf("%s: the provider got %d requests, want %d", act, asked.Load(), c.asked)
				}
			}
		})
	}
}

// A call that is cancelled, or that its caller does not wait for, does not open the breaker.
// Embeddings and completions have separate breakers.
func TestCircuitStaysClosed(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, end := context.WithTimeoutCause(t.Context(), 0, chat.ErrLate)
	defer end()
	client, _ := counting(t, say(500, "oops"), Config{CircuitFailures: 2, CircuitPause: time.Hour})
	for range 5 {
		_, _, _ = client.Embed(cancelled, client.EmbeddingModel(), []string{"a"})
		if _, _, err := client.Embed(late, client.EmbeddingModel(), []string{"a"}); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("after the deadline: %v", err)
		}
	}
	if _, _, err := client.Embed(t.Context(), client.EmbeddingModel(), []string{"a"}); err == nil || client.embedding.Counts().ConsecutiveFailures != 1 {
		t.Errorf("the error is %v, the breaker's counts are %+v", err, client.embedding.Counts())
	}
	if counts := client.chatting.Counts(); counts.Requests != 0 {
		t.Errorf("the chat breaker's counts are %+v", counts)
	}
}

// After the pause one call is let through, and its success closes the breaker.
func TestCircuitCloses(t *testing.T) {
	t.Parallel()
	var healthy atomic.Bool
	client, asked := counting(t, func(w http.ResponseWriter, r *http.Request) {
		if !healthy.Load() {
			say(500, "oops")(w, r)
			return
		}
		say(200, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)(w, r)
	}, Config{CircuitFailures: 2, CircuitPause: time.Millisecond})
	for range 2 {
		_, _ = client.Complete(t.Context(), chat.Request{MaxTokens: 1})
	}
	healthy.Store(true)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1}); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if asked.Load() != 3 {
		t.Errorf("the provider got %d requests, want 3", asked.Load())
	}
}

// Retries are limited. There are none where the provider asks for a longer wait.
func TestRetries(t *testing.T) {
	t.Parallel()
	limit := say(429, `{"error":{"code":"rate_limit_exceeded"}}`)
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		time    time.Duration
		asked   int64
		want    fault.Code
	}{
		"server error":                 {headed(say(500, ""), "Retry-After-Ms", "1"), time.Minute, 3, fault.Provider},
		"overload":                     {headed(say(503, ""), "Retry-After-Ms", "1"), time.Minute, 3, fault.Provider},
		"rate limit":                   {headed(limit, "Retry-After-Ms", "1"), time.Minute, 3, fault.Unavailable},
		"invalid key":                  {headed(say(401, "{}"), "Retry-After-Ms", "1"), time.Minute, 1, fault.Provider},
		"a wait over the limit of 2 s": {headed(limit, "Retry-After", "3"), time.Minute, 1, fault.Unavailable},
		"a wait of a minute":           {headed(limit, "Retry-After", "60"), time.Minute, 1, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, asked := counting(t, c.handler, Config{MaxRetries: 2})
			ctx, cancel := context.WithTimeout(t.Context(), c.time)
			defer cancel()
			if _, _, err := client.Embed(ctx, client.EmbeddingModel(), []string{"a"}); fault.CodeOf(err) != c.want || asked.Load() != c.asked {
				t.Errorf("%d requests were sent, want %d: %v", asked.Load(), c.asked, err)
			}
		})
	}
}
