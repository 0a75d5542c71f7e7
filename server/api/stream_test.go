package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// stream is an answer that is read event by event.
type stream struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Scanner
	leave    context.CancelFunc
	comments int
}

type event struct {
	name string
	data string
}

// openStream asks a question for events.
func (s *service) openStream(question string, more map[string]any) *stream {
	s.t.Helper()
	body := map[string]any{"question": question, "stream": true}
	for name, value := range more {
		body[name] = value
	}
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, leave := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(leave)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/query", bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" || response.Header.Get("X-Request-Id") == "" {
		rest, _ := io.ReadAll(response.Body)
		s.t.Fatalf("%d %s: %s", response.StatusCode, kind, rest)
	}
	return &stream{t: s.t, response: response, lines: bufio.NewScanner(response.Body), leave: leave}
}

// next reads an event; ok is false at the end.
func (s *stream) next() (e event, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			e.name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			e.data += line[len("data: "):]
		case strings.HasPrefix(line, ":"):
			s.comments++
		case line == "" && e.name != "":
			s.check(e)
			return e, true
		case line != "":
			s.t.Errorf("a line of the stream is %q", line)
		}
	}
	if err := s.lines.Err(); err != nil {
		s.t.Errorf("read events: %v", err)
	}
	return event{}, false
}

// check holds an event against the OpenAPI document.
func (s *stream) check(e event) {
	s.t.Helper()
	schemas := map[string]string{"sources": "SourcesEvent", "delta": "DeltaEvent", "done": "QueryResponse", "error": "Problem"}
	var data any
	if err := json.Unmarshal([]byte(e.data), &data); err != nil || schemas[e.name] == "" {
		s.t.Errorf("event %s: %v: %s", e.name, err, e.data)
		return
	}
	if err := theDocument(s.t).Components.Schemas[schemas[e.name]].Value.VisitJSON(data); err != nil {
		s.t.Errorf("event %s is not what openapi.yaml says: %v: %s", e.name, err, e.data)
	}
	if found := inner.FindString(e.data); e.name == "error" && found != "" {
		s.t.Errorf("event %s tells %q: %s", e.name, found, e.data)
	}
}

// rest reads all events to the end: their names, the joined deltas, and the last one.
func (s *stream) rest() (names []string, text string, last event) {
	s.t.Helper()
	for e, ok := s.next(); ok; e, ok = s.next() {
		last = e
		var delta struct{ Text string }
		if e.name == "delta" {
			if err := json.Unmarshal([]byte(e.data), &delta); err != nil {
				s.t.Error(err)
			}
			text += delta.Text
		}
		if len(names) == 0 || e.name != "delta" || names[len(names)-1] != "delta" {
			names = append(names, e.name)
		}
	}
	return names, text, last
}

func decoded[T any](t testing.TB, e event) (data T) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &data); err != nil {
		t.Errorf("event %s: %v", e.name, err)
	}
	return data
}

// streams has the chat model answer by hand: speak gets a function that sends what the model says next.
func (s *service) streams(speak func(say func(piece, finish string), r *http.Request, raw io.Writer)) {
	s.model.intercept(func(w http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
		if name != "completions" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		speak(func(piece, finish string) {
			choice := map[string]any{"index": 0, "delta": map[string]string{"content": piece}}
			if finish != "" {
				choice["finish_reason"] = finish
			}
			text, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "chat-2030", "choices": []any{choice}})
			fmt.Fprintf(w, "data: %s\n\n", text)
			_ = http.NewResponseController(w).Flush()
		}, r, w)
		return true
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful)
	whole := s.ask(doubleCharge)
	opened := s.openStream(doubleCharge, nil)
	first, _ := opened.next()
	before := decoded[answered](t, first)
	names, text, last := opened.rest()
	done := decoded[answered](t, last)
	if first.name != "sources" || !slices.Equal(names, []string{"delta", "done"}) || text != done.Answer || done.Answer != whole.Answer || done.Model != whole.Model {
		t.Fatalf("events are %s, %q; the text is %q, not %q", first.name, names, text, whole.Answer)
	}
	if len(before.Sources) != len(done.Sources) || len(done.Sources) != len(whole.Sources) || before.Sources[0].Cited || !done.Sources[0].Cited ||
		before.LowSimilarity || *before.BestSimilarity != *whole.BestSimilarity {
		t.Errorf("sources are %+v, then %+v", before, done)
	}
}

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

func TestStreamAbstains(t *testing.T) {
	t.Parallel()
	s := startTracker(t)
	names, text, last := s.openStream("xylophone zebra quux", nil).rest()
	done := decoded[answered](t, last)
	if !slices.Equal(names, []string{"sources", "delta", "done"}) || text != done.Answer || !done.LowSimilarity || len(done.Sources) > 0 || !strings.Contains(text, "nothing relevant") {
		t.Errorf("events are %q, %+v", names, done)
	}
	if asked := s.model.requests("completions"); len(asked) > 0 {
		t.Error("the chat model was asked")
	}
}

// Text reaches the client while the model still thinks about the rest; a citation waits until it is closed and checked.
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
		say("The key", "")
		wait()
		say(" was lost [", "")
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

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold, c.attemptTimeout = 0, 500*time.Millisecond })
	for name, c := range map[string]struct {
		speak  func(say func(string, string), r *http.Request, raw io.Writer)
		status int    // of the error
		text   string // where there is none
	}{
		"cut off":        {func(say func(string, string), _ *http.Request, _ io.Writer) { say("So", "length") }, 0, "So\n\n(The answer ends here because it reached its greatest length.)"},
		"filtered":       {func(say func(string, string), _ *http.Request, _ io.Writer) { say("", "content_filter") }, 0, "The model provider's content filter withheld the answer to this question."},
		"empty":          {func(say func(string, string), _ *http.Request, _ io.Writer) { say("", "stop") }, 0, "The model gave no answer to this question."},
		"stops":          {func(say func(string, string), _ *http.Request, _ io.Writer) { say("So", "") }, 502, ""},
		"nothing at all": {func(func(string, string), *http.Request, io.Writer) {}, 502, ""},
		"an error": {func(say func(string, string), _ *http.Request, raw io.Writer) {
			say("So", "")
			fmt.Fprint(raw, "data: {\"error\":{\"message\":\""+upstreamText+"\"}}\n\n")
		}, 502, ""},
		"no JSON": {func(say func(string, string), _ *http.Request, raw io.Writer) {
			say("So", "")
			fmt.Fprint(raw, "data: {"+upstreamText+"\n\n")
		}, 502, ""},
		"a lost connection": {func(say func(string, string), _ *http.Request, _ io.Writer) {
			say("So", "")
			panic(http.ErrAbortHandler)
		}, 502, ""},
		"silence": {func(say func(string, string), r *http.Request, _ io.Writer) { say("So", ""); <-r.Context().Done() }, 504, ""},
	} {
		s.streams(c.speak)
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
		t.Error("what the model provider said does not stand in the log")
	}
}

// Before the first event a failure is an ordinary problem; after it, the last event.
func TestStreamFails(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful, func(c *setup) { c.threshold = 0 })
	for name, c := range map[string]struct {
		status  int
		headers []string
		want    int
	}{"limit": {429, []string{"Retry-After", "7"}, 503}, "failure": {500, nil, 502}} {
		s.model.answer("embeddings", c.status, said("rate_limit_exceeded"), c.headers...)
		r := s.post("/api/query", map[string]any{"question": "why", "stream": true}).want(c.want)
		if c.want == 503 && r.header.Get("Retry-After") != "7" {
			t.Errorf("%s: Retry-After is %q", name, r.header.Get("Retry-After"))
		}
		s.model.answer("completions", c.status, said("rate_limit_exceeded"), c.headers...)
		names, _, last := s.openStream("why", nil).rest()
		if failure := decoded[problem](t, last); !slices.Equal(names, []string{"sources", "error"}) || failure.Status != c.want {
			t.Errorf("%s: events are %q, the last %+v", name, names, last)
		}
	}
	s.post("/api/query", map[string]any{"question": "", "stream": true}).want(http.StatusBadRequest)
	s.post("/api/query", map[string]any{"question": "why", "stream": true}, "Authorization", "Bearer nonsense").want(http.StatusUnauthorized)
	broken := start(t, func(c *setup) { c.broken = true })
	broken.post("/api/query", map[string]any{"question": "why", "stream": true}).want(http.StatusInternalServerError)
	broken.get("/healthz").want(http.StatusOK)
}

// When the client leaves, the model's work ends, whether the model speaks or is silent.
func TestStreamLeft(t *testing.T) {
	t.Parallel()
	for name, chatty := range map[string]bool{"silent": false, "chatty": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTracker(t, func(c *setup) { c.threshold = 0 })
			ended := make(chan struct{})
			s.streams(func(say func(string, string), r *http.Request, _ io.Writer) {
				defer close(ended)
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
			if took := time.Since(left); took > time.Second {
				t.Errorf("the model was cancelled after %v", took)
			}
			s.get("/healthz").want(http.StatusOK)
		})
	}
	t.Run("before the first event", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		asked, ended := make(chan struct{}), make(chan struct{})
		s.model.intercept(func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
			close(asked)
			<-r.Context().Done()
			close(ended)
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
		if took := time.Since(left); took > time.Second {
			t.Errorf("the model was cancelled after %v", took)
		}
	})
}

// A silent stream says from time to time that it lives.
func TestStreamHeartbeat(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold, c.heartbeat = 0, 10*time.Millisecond })
	beaten := make(chan struct{})
	s.streams(func(say func(string, string), _ *http.Request, _ io.Writer) {
		say("So", "")
		select {
		case <-beaten:
		case <-time.After(patience):
		}
		say(".", "stop")
	})
	opened := s.openStream(doubleCharge, nil)
	opened.next()
	opened.next()
	for opened.comments < 3 && opened.lines.Scan() {
		if strings.HasPrefix(opened.lines.Text(), ":") {
			opened.comments++
		}
	}
	close(beaten)
	if _, _, last := opened.rest(); last.name != "done" {
		t.Errorf("the last event is %+v", last)
	}
}

// A service that stops ends its streams with an event, in time.
func TestStreamAtTheEnd(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.threshold = 0 })
	s.streams(func(say func(string, string), r *http.Request, _ io.Writer) {
		say("So", "")
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

// After several failures in a row the model is left alone for a while, and asked again after it.
func TestModelLeftAlone(t *testing.T) {
	t.Parallel()
	s := startTracker(t, forgetful, func(c *setup) { c.threshold, c.failures = 0, 3 })
	s.model.answer("completions", 500, said("server_error"))
	for range 6 {
		s.post("/api/query", map[string]any{"question": "why"}).want(http.StatusBadGateway)
	}
	if asked := len(s.model.requests("completions")); asked != 3 {
		t.Errorf("the model was asked %d times", asked)
	}
	s.search("why") // embeddings have a circuit of their own
	s.model.intercept(nil)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if r := s.send(http.MethodPost, "/api/query", `{"question":"why"}`); r.status == http.StatusOK {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the model is never asked again: %s", r.text)
		}
	}
	// A limit is told by the provider itself, and is no failure.
	s.model.answer("completions", 429, said("rate_limit_exceeded"), "Retry-After", "7")
	for range 6 {
		s.post("/api/query", map[string]any{"question": "why"}).want(http.StatusServiceUnavailable)
	}
}
