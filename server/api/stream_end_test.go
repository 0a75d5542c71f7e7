package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// When the client leaves, the model's call is cancelled, whether it is sending or silent.
func TestStreamLeft(t *testing.T) {
	t.Parallel()
	for name, chatty := range map[string]bool{"silent": false, "chatty": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTracker(t, func(c *setup) { c.threshold = 0 })
			ended := make(chan struct{})
			over := sync.OnceFunc(func() { close(ended) })
			s.streams(func(say func(string, string), r *http.Request, _ io.Writer) {
				defer over()
				for end := time.After(patience); ; {
					say("on and on ", "")
					pause := time.After(patience)
					if chatty {
						pause = time.After(10 * time.Millisecond)
					}
					select {
					case <-r.Context().Done():
						return
					case <-end:
						return
					case <-pause:
					}
				}
			})
			opened := s.openStream(doubleCharge, nil)
			opened.next()
			opened.next()
			left := time.Now()
			opened.leave()
			<-ended
			if took := time.Since(left); took > 10*time.Second { // a heartbeat would find out after 15
				t.Errorf("the model was cancelled after %v", took)
			}
			s.get("/healthz").want(http.StatusOK)
		})
	}
	t.Run("before the first event", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		asked, ended := make(chan struct{}), make(chan struct{})
		reached, over := sync.OnceFunc(func() { close(asked) }), sync.OnceFunc(func() { close(ended) })
		// An embedding would go on, for the cache.
		s.database.intercept(func(_ http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
			if name != "retrieve_chunks" {
				return false
			}
			reached()
			<-r.Context().Done()
			over()
			return true
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			<-asked
			leave()
		}()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/query", strings.NewReader(`{"question":"why","stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if _, err := s.client.Do(request); err == nil {
			t.Error("an answer came")
		}
		left := time.Now()
		<-ended
		if took := time.Since(left); took > 10*time.Second { // a heartbeat would find out after 15
			t.Errorf("the database call was cancelled after %v", took)
		}
	})
}

// A service that stops ends its streams with an event, in time.
func TestStreamAtTheEnd(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold = 0 })
	s.streams(func(say func(string, string), r *http.Request, _ io.Writer) {
		say("So ", "")
		<-r.Context().Done()
	})
	opened := s.openStream(doubleCharge, nil)
	opened.next()
	opened.next()
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop(2 * time.Second) }()
	_, _, last := opened.rest()
	if failure := decoded[problem](t, last); last.name != "error" || failure.Status != http.StatusServiceUnavailable {
		t.Errorf("the last event is %+v", last)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}
