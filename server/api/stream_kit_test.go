package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// stream is a response that is read event by event.
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

// openStream sends a question and requests a stream.
func (s *service) openStream(question string, more map[string]any) *stream {
	s.t.Helper()
	body := map[string]any{"question": question, "stream": true}
	maps.Copy(body, more)
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
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" || response.Header.Get("X-Request-Id") == "" ||
		response.Header.Get("X-Accel-Buffering") != "no" { // or a proxy would hold events back
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

// check validates an event against the OpenAPI document.
func (s *stream) check(e event) {
	s.t.Helper()
	checkEvent(s.t, e)
}

func checkEvent(t testing.TB, e event) {
	t.Helper()
	var data any
	if err := json.Unmarshal([]byte(e.data), &data); err != nil {
		t.Errorf("event %s: %v: %s", e.name, err, e.data)
		return
	}
	if err := theDocument(t).Components.Schemas["QueryEvent"].Value.VisitJSON(map[string]any{"event": e.name, "data": data}); err != nil {
		t.Errorf("event %s is not what openapi.yaml says: %v: %s", e.name, err, e.data)
	}
	if problem, ok := data.(map[string]any); ok && e.name == "error" {
		checkCode(t, int(problem["status"].(float64)), fmt.Sprint(problem["code"]))
	}
	if found := inner.FindString(e.data); e.name == "error" && found != "" {
		t.Errorf("event %s tells %q: %s", e.name, found, e.data)
	}
}

// checkEvents validates a stream that was read whole against the OpenAPI document, whose schema for
// it is that of the last event's data.
func checkEvents(t testing.TB, text string) {
	t.Helper()
	for _, one := range strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		if name, data, ok := strings.Cut(strings.TrimPrefix(one, "event: "), "\ndata: "); ok {
			checkEvent(t, event{name, data})
		} else if !strings.HasPrefix(one, ":") {
			t.Errorf("%q is no event", one)
		}
	}
}

// rest reads all events to the end: their names, the joined deltas, and the last event.
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

// streams controls the chat model's stream: speak gets a function that sends the next piece.
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
