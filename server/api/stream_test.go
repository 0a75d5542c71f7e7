package api_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tasklens/server/api"
	"tasklens/supabase"
)

func TestStreamByHeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	for accept, events := range map[string]bool{
		"text/event-stream": true, "application/json, Text/Event-Stream;q=0.5": true,
		"": false, "*/*": false, "text/*": false, "text/event-stream;q=0": false, "application/json": false,
	} {
		r := s.post("/api/query", map[string]any{"question": "why"}, "Accept", accept).want(http.StatusOK)
		if got := r.header.Get("Content-Type") == "text/event-stream"; got != events {
			t.Errorf("Accept %q: %s", accept, r.header.Get("Content-Type"))
		}
	}
}

// Text reaches the client while the model still generates the rest, even if another client waits
// for the whole answer to the same question; a citation is held back until it is checked.
func TestStreamGoesOutAsItComes(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold = 0 })
	arrived, held := make(chan struct{}), make(chan struct{})
	s.model.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "completions" {
			close(arrived)
			<-held
		}
		return false
	})
	whole := make(chan *response, 1)
	go func() { whole <- s.post("/api/query", map[string]any{"question": doubleCharge, "top_k": 2}) }()
	<-arrived
	seen := make(chan struct{})
	s.streams(func(say func(string, string), _ *http.Request, raw io.Writer) {
		wait := func() {
			select {
			case <-seen:
			case <-time.After(patience):
			}
		}
		say("The key ", "")
		wait()
		say("was lost [", "")
		wait()
		say("1", "")
		say("], not [9", "")
		say("9].", "stop")
		fmt.Fprint(raw, "data: [DONE]\n\n")
	})
	opened := s.openStream(doubleCharge, map[string]any{"top_k": 2})
	for _, want := range []string{"", "The key", " was lost"} {
		e, _ := opened.next()
		if got := decoded[struct{ Text string }](t, e).Text; got != want {
			t.Fatalf("event %s has %q, not %q", e.name, got, want)
		}
		if want != "" {
			seen <- struct{}{}
		}
	}
	_, text, last := opened.rest()
	done := decoded[answered](t, last)
	if text != " [1], not [99]." || done.Answer != "The key was lost [1], not [99]." || !done.Sources[0].Cited || done.Sources[1].Cited || done.Model != "chat-2030" {
		t.Errorf("then came %q, %+v", text, done)
	}
	close(held)
	(<-whole).want(http.StatusOK)
}

// The sources come before the model has said a word, and figures replace them. What takes long
// before that shows signs of life.
func TestStreamBegins(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful, func(c *setup) { c.threshold, c.heartbeat = 0, 10*time.Millisecond })
	begun := make(chan struct{})
	wait := func() {
		select {
		case <-begun:
		case <-time.After(patience):
			t.Error("nothing comes before the model's first word")
		}
	}
	s.streams(func(say func(string, string), _ *http.Request, _ io.Writer) {
		wait()
		say("So [1].", "stop")
	})
	opened := s.openStream(doubleCharge, nil)
	first, _ := opened.next()
	if found := decoded[struct{ Sources []source }](t, first); first.name != "sources" || len(found.Sources) == 0 || found.Sources[0].Cited || opened.comments == 0 {
		t.Errorf("it begins with %+v after %d comments", first, opened.comments)
	}
	if usual, err := api.New(api.Parts{Migrations: supabase.Migrations()}); err != nil || usual.Heartbeat != 15*time.Second {
		t.Errorf("usually it is every %v, %v", usual.Heartbeat, err)
	}
	if got := opened.response.Header.Get("Cache-Control"); got != "no-store, no-transform" {
		t.Errorf("Cache-Control is %q", got)
	}
	close(begun)
	if names, text, _ := opened.rest(); !slices.Equal(names, []string{"delta", "done"}) || text != "So [1]." {
		t.Errorf("then come %q, %q", names, text)
	}

	begun = make(chan struct{})
	s.database.intercept(func(w http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "retrieve_chunks" {
			wait()
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return name == "retrieve_chunks"
	})
	opened = s.openStream(doubleCharge, nil) // the headers are there
	close(begun)
	names, _, last := opened.rest()
	if failure := decoded[problem](t, last); !slices.Equal(names, []string{"error"}) || failure.Status != http.StatusServiceUnavailable || opened.comments == 0 {
		t.Errorf("a late failure is %q, %+v", names, last)
	}

	s.database.intercept(nil)
	s.model.intercept(nil)
	names, _, last = s.openStream("How many tickets are there per project?", nil).rest()
	if done := decoded[answered](t, last); !slices.Equal(names, []string{"sources", "sources", "delta", "done"}) || done.ReadAs == nil {
		t.Errorf("of figures come %q, %+v", names, last)
	}
}

// A failure before the first event is a problem like others, and later the last event.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold, c.attemptTimeout = 0, 3*time.Second })
	for name, c := range map[string]struct {
		speak  func(say func(string, string), r *http.Request, raw io.Writer)
		status int
	}{
		"stops": {func(say func(string, string), _ *http.Request, _ io.Writer) { say("So", "") }, 502},
		"an error": {func(say func(string, string), _ *http.Request, raw io.Writer) {
			say("So ", "")
			fmt.Fprint(raw, "data: {\"error\":{\"message\":\""+upstreamText+"\"}}\n\n")
		}, 502},
		"a lost connection": {func(say func(string, string), _ *http.Request, _ io.Writer) {
			say("So ", "")
			panic(http.ErrAbortHandler)
		}, 502},
		"silence": {func(say func(string, string), r *http.Request, _ io.Writer) { say("So ", ""); <-r.Context().Done() }, 504},
	} {
		s.streams(c.speak)
		names, _, last := s.openStream(doubleCharge, nil).rest()
		if failure := decoded[problem](t, last); last.name != "error" || failure.Status != c.status || failure.RequestID == "" {
			t.Errorf("%s: %q ended by %+v", name, names, last)
		}
	}
	if !strings.Contains(s.log.String(), upstreamText) {
		t.Error("the model provider's error is not in the log")
	}
}
