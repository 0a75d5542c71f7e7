package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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

// Text reaches the client while the model still generates the rest; a citation is held back until
// it is complete and checked.
func TestStreamGoesOutAsItComes(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold = 0 })
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
	if text != " [1], not." || done.Answer != "The key was lost [1], not." || !done.Sources[0].Cited || done.Sources[1].Cited || done.Model != "chat-2030" {
		t.Errorf("then came %q, %+v", text, done)
	}
}

// Text is streamed as it is made, even if another client waits for the whole answer to the same
// question.
func TestStreamDoesNotWaitForTheWhole(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold = 0 })
	arrived, held := make(chan struct{}), make(chan struct{})
	let := sync.OnceFunc(func() { close(held) })
	defer let()
	s.model.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "completions" {
			close(arrived)
			<-held
		}
		return false
	})
	whole := make(chan *response, 1)
	go func() { whole <- s.post("/api/query", map[string]any{"question": doubleCharge}) }()
	<-arrived
	s.streams(func(say func(string, string), _ *http.Request, raw io.Writer) {
		say("The key ", "")
		<-held
		say("was lost [1].", "stop")
		fmt.Fprint(raw, "data: [DONE]\n\n")
	})
	opened := s.openStream(doubleCharge, nil)
	for _, want := range []string{"", "The key"} {
		e, _ := opened.next()
		if got := decoded[struct{ Text string }](t, e).Text; got != want {
			t.Fatalf("event %s has %q, not %q", e.name, got, want)
		}
	}
	let()
	if _, text, _ := opened.rest(); text != " was lost [1]." {
		t.Errorf("then came %q", text)
	}
	got := <-whole
	if got.want(http.StatusOK); read[answered](got).Answer == "" {
		t.Errorf("the whole is %s", got.text)
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold, c.attemptTimeout = 0, 3*time.Second })
	for name, c := range map[string]struct {
		speak  func(say func(string, string), r *http.Request, raw io.Writer)
		status int    // of the error
		text   string // where there is none
	}{
		"cut off":  {func(say func(string, string), _ *http.Request, _ io.Writer) { say("So", "length") }, 0, "So\n\n(The answer ends here because it reached its greatest length.)"},
		"filtered": {func(say func(string, string), _ *http.Request, _ io.Writer) { say("", "content_filter") }, 0, "The model provider's content filter withheld the answer to this question."},
		"empty":    {func(say func(string, string), _ *http.Request, _ io.Writer) { say("", "stop") }, 0, "The model gave no answer to this question."},
		"stops":    {func(say func(string, string), _ *http.Request, _ io.Writer) { say("So", "") }, 502, ""},
		"an error": {func(say func(string, string), _ *http.Request, raw io.Writer) {
			say("So ", "")
			fmt.Fprint(raw, "data: {\"error\":{\"message\":\""+upstreamText+"\"}}\n\n")
		}, 502, "So"},
		"a lost connection": {func(say func(string, string), _ *http.Request, _ io.Writer) {
			say("So ", "")
			panic(http.ErrAbortHandler)
		}, 502, "So"},
		"silence": {func(say func(string, string), r *http.Request, _ io.Writer) { say("So ", ""); <-r.Context().Done() }, 504, "So"},
	} {
		s.streams(c.speak)
		if c.text == "" { // nothing was sent yet
			s.post("/api/query", map[string]any{"question": doubleCharge, "stream": true}).want(c.status)
			continue
		}
		names, text, last := s.openStream(doubleCharge, nil).rest()
		if c.status == 0 {
			if done := decoded[answered](t, last); last.name != "done" || done.Answer != c.text || text != c.text {
				t.Errorf("%s: %q ended by %+v", name, names, last)
			}
			continue
		}
		if failure := decoded[problem](t, last); last.name != "error" || failure.Status != c.status || failure.RequestID == "" {
			t.Errorf("%s: %q ended by %+v", name, names, last)
		}
	}
	if !strings.Contains(s.log.String(), upstreamText) {
		t.Error("the model provider's error is not in the log")
	}
}
