package openai

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

type watched struct {
	Operation, Model string
	Said             chat.Completion
	Code             fault.Code // the error's code, "" without one
}

type watchKey struct{}

// Every operation is reported with its outcome, and runs with the watcher's context.
func TestWatch(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var told []watched
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/embeddings":
			say(200, `{"data":[{"index":0,"embedding":"`+encoded(3, 4)+`"}],"usage":{"prompt_tokens":7,"total_tokens":7}}`)(w, r)
		default:
			say(200, `{"model":"m-2030","choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":40,"completion_tokens":2,"total_tokens":42}}`)(w, r)
		}
	})
	attempts := 0
	broken := false
	client, _ := counting(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		handler(w, r)
	}, Config{
		CircuitFailures: 1, CircuitPause: time.Minute,
		Watch: func(ctx context.Context, operation, model string) (context.Context, func(chat.Completion, error)) {
			return context.WithValue(ctx, watchKey{}, operation), func(said chat.Completion, err error) {
				mutex.Lock()
				defer mutex.Unlock()
				w := watched{operation, model, said, ""}
				if err != nil {
					w.Code = fault.CodeOf(err)
				}
				told = append(told, w)
			}
		},
		Around: func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				attempts++
				if r.Context().Value(watchKey{}) == nil {
					return nil, errors.New("the request does not have the watcher's context")
				}
				return next.RoundTrip(r)
			})
		},
	})
	embed := func() { _, _, _ = client.Embed(t.Context(), "other@2", []string{"a"}) }
	embed()
	_, _ = client.Complete(t.Context(), chat.Request{Instructions: "i", Message: "m", MaxTokens: 10})
	if left := client.OpenCircuits(); left != nil {
		t.Errorf("the circuit breaker is open for %q", left)
	}
	broken = true
	_, _ = client.Stream(t.Context(), chat.Request{Instructions: "i", Message: "m", MaxTokens: 10}, func(string) error { return nil })
	embed()
	embed() // rejected by the circuit breaker
	want := []watched{
		{OperationEmbeddings, "other", chat.Completion{TokensIn: 7}, ""},
		{OperationChat, "m", chat.Completion{Text: "Yes.", Model: "m-2030", Finish: "stop", TokensIn: 40, TokensOut: 2}, ""},
		{OperationChat, "m", chat.Completion{}, fault.Provider},
		{OperationEmbeddings, "other", chat.Completion{}, fault.Provider},
		{OperationEmbeddings, "other", chat.Completion{}, fault.Provider},
	}
	if differ := cmp.Diff(want, told); differ != "" {
		t.Errorf("reported operations (-want +got):\n%s", differ)
	}
	if attempts != 4 {
		t.Errorf("%d attempts used the transport, want 4", attempts)
	}
	if differ := cmp.Diff([]string{"embeddings", "chat"}, client.OpenCircuits()); differ != "" {
		t.Errorf("open circuit breakers (-want +got):\n%s", differ)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
