package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"tasklens/server/api"
)

// fragileLog panics on its first message, once it is armed.
type fragileLog struct {
	slog.Handler
	message string
	armed   *atomic.Bool
}

func (l fragileLog) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == l.message && l.armed.CompareAndSwap(true, false) {
		panic("the log is broken")
	}
	return l.Handler.Handle(ctx, record)
}

func startWithLog(t *testing.T, message string) (*service, *atomic.Bool) {
	armed := &atomic.Bool{}
	s := startTracker(t, func(c *setup) {
		c.more = func(p *api.Parts) { p.Log = slog.New(fragileLog{p.Log.Handler(), message, armed}) }
	})
	return s, armed
}

// A panic outside the handlers, which Fiber does not catch, is an ordinary problem too.
func TestPanicAroundAHandler(t *testing.T) {
	t.Parallel()
	s, armed := startWithLog(t, "request")
	armed.Store(true)
	s.get("/api/projects").want(http.StatusInternalServerError)
	s.get("/api/projects").want(http.StatusOK)
}

// A panic while a stream is written ends only that stream.
func TestPanicInAStream(t *testing.T) {
	t.Parallel()
	s, armed := startWithLog(t, "request failed")
	armed.Store(true)
	s.model.intercept(func(w http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "completions" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"So it \"}}]}\n\n")
		}
		return name == "completions"
	})
	request, err := http.NewRequest(http.MethodPost, s.url+"/api/query", strings.NewReader(`{"question":"payment page","match_threshold":0.1,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body) // how a broken stream ends is the connection's business
	if !strings.Contains(string(text), "event: sources") || armed.Load() {
		t.Errorf("the stream is %q", text)
	}
	s.get("/api/projects").want(http.StatusOK)
}
