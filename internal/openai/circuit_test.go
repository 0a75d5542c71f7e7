package openai

import (
	"context"
	"io"
	"net/http"
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
	config.EmbeddingModel, config.ChatModel, config.ThinksApart = "m", "m", true
	if config.AttemptTimeout == 0 {
		config.AttemptTimeout = time.Minute
	}
	return serveAs(t, config, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked.Add(1)
		handler(w, r)
	})), &asked
}

func headed(handler http.HandlerFunc, name, value string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		handler(w, r)
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

// After failures in a row no call is sent; after the pause one is let through, and its success
// closes the breaker.
func TestCircuitCloses(t *testing.T) {
	t.Parallel()
	var healthy atomic.Bool
	client, asked := counting(t, func(w http.ResponseWriter, r *http.Request) {
		if !healthy.Load() {
			say(500, "oops")(w, r)
			return
		}
		say(200, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)(w, r)
	}, Config{CircuitFailures: 2, CircuitPause: 300 * time.Millisecond})
	for range 6 {
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
