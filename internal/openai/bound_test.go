package openai

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// A listener that has read enough cancels the request. The text received so far is a complete
// answer.
func TestStreamEnough(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for r.Context().Err() == nil {
			events(delta(`"content":"on "`, "null"))(w, r)
		}
	})
	told := 0
	whole, err := client.Stream(t.Context(), chat.Request{MaxTokens: 1}, func(string) error {
		if told++; told == 3 {
			return chat.ErrEnough
		}
		return nil
	})
	if err != nil || whole.Text != "on on on " || whole.Finish != chat.FinishLength || whole.Model != "chatter-2" || told != 3 {
		t.Errorf("the answer is %+v after %d pieces, %v", whole, told, err)
	}
	<-ended
}

// The size of a response is limited, whatever the provider sends. An oversized one is not retried.
func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"one endless line":    "a",
		"comments":            ": still here\n",
		"deltas without text": "data: " + delta("", "null") + "\n\n",
		"one endless event":   "data: aaaa\n",
		"white space":         " ",
		"nested arrays":       `data: {"a":[[[[[[[[`,
		"JSON after JSON":     `{"choices":[{"message":{"content":"Hi"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests, sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/event-stream"}[name == "JSON after JSON"])
				for block := bytes.Repeat([]byte(unit), 64<<10/len(unit)); r.Context().Err() == nil; {
					n, err := w.Write(block)
					if sent.Add(int64(n)); err != nil {
						return
					}
				}
			}))
			t.Cleanup(server.Close)
			client := New(Config{BaseURL: server.URL, ChatModel: "m", ThinksApart: true, AttemptTimeout: time.Minute, MaxRetries: 2})
			for _, ask := range []func() error{
				func() error { _, err := client.Complete(t.Context(), chat.Request{MaxTokens: 1}); return err },
				func() error { _, _, err := told(client); return err },
				func() error { _, _, err := client.Embed(t.Context(), "e", []string{"a"}); return err },
			} {
				requests.Store(0)
				if err := ask(); fault.CodeOf(err) != fault.Provider || requests.Load() != 1 {
					t.Errorf("after %d requests: %v", requests.Load(), err)
				}
			}
			if sent.Load() > 6*maxResponseBytes { // all responses, and data in flight
				t.Errorf("the provider sent %d bytes", sent.Load())
			}
		})
	}
}
