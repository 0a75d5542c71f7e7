package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tasklens/internal/wait"
)

// patience is longer than the service may take for any response: its own timeout, plus a margin for
// a busy machine.
const patience = 60 * time.Second

const maxAnswer = 8 << 20

var visitor = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// kind is a kind of request. ask returns its outcome (the status, or how it ended) and what was
// wrong with it.
type kind struct {
	name string
	make func(i int) (method, path string, body map[string]any)
}

var words = strings.Fields("payment login checkout refund timeout invoice session token cache retry webhook mobile ledger printer search")

func text(i int) string {
	return fmt.Sprintf("%s %s %d", words[i%len(words)], words[i/len(words)%len(words)], i%997)
}

var kinds = []kind{
	{"search", func(i int) (string, string, map[string]any) {
		return http.MethodPost, "/api/hybrid-search", map[string]any{"query": text(i), "facets": i%2 == 0}
	}},
	{"again", func(i int) (string, string, map[string]any) { // may be cached
		return http.MethodPost, "/api/hybrid-search", map[string]any{"query": words[i%5]}
	}},
	{"answer", func(i int) (string, string, map[string]any) {
		return http.MethodPost, "/api/query", map[string]any{"question": "What of the " + text(i) + "?", "match_threshold": 0.1}
	}},
	{"stream", func(i int) (string, string, map[string]any) {
		return http.MethodPost, "/api/query", map[string]any{"question": "What of the " + text(i) + "?", "match_threshold": 0.1, "stream": true}
	}},
	{"documents", func(i int) (string, string, map[string]any) {
		return http.MethodGet, "/api/knowledge/search?hybrid=true&q=" + url.QueryEscape(text(i)), nil
	}},
	{"status", func(int) (string, string, map[string]any) { return http.MethodGet, "/api/embeddings/status", nil }},
}

func (k kind) ask(ctx context.Context, service string, i int) (outcome, wrong string) {
	method, path, fields := k.make(max(i, -i))
	var body io.Reader
	if fields != nil {
		encoded, err := json.Marshal(fields)
		if err != nil {
			return "not sent", err.Error()
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, service+path, body)
	if err != nil {
		return "not sent", err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := visitor.Do(request)
	if err != nil {
		return lost(ctx, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return lost(ctx, err)
	}
	outcome = fmt.Sprint(response.StatusCode)
	if wrong := check(response, answer); wrong != "" {
		return outcome, fmt.Sprintf("%s: %s: %s", k.name, outcome, wrong)
	}
	if k.name == "stream" && response.StatusCode == http.StatusOK && !strings.Contains(string(answer), "event: done\n") {
		return "200 with an error event", ""
	}
	return outcome, ""
}

// lost returns the outcome of a request without a response. If the client disconnected, that is not
// an error.
func lost(ctx context.Context, err error) (outcome, wrong string) {
	if ctx.Err() != nil {
		return "left", ""
	}
	return "no answer", "no answer: " + err.Error()
}

// check returns what a response violates of the contract; empty if it is valid.
func check(response *http.Response, answer []byte) string {
	if response.Header.Get("X-Request-Id") == "" {
		return "without a request id"
	}
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch response.StatusCode {
	case http.StatusOK:
		if media == "text/event-stream" {
			return checkEvents(string(answer))
		}
		if !json.Valid(answer) {
			return fmt.Sprintf("no JSON: %.200s", answer)
		}
		return ""
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
			return "without Retry-After"
		}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
	default:
		return fmt.Sprintf("%.200s", answer)
	}
	var problem struct {
		Status    int
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(answer, &problem); err != nil || media != "application/problem+json" || problem.Status != response.StatusCode || problem.RequestID == "" {
		return fmt.Sprintf("not a problem: %.200s", answer)
	}
	return ""
}

// checkEvents reads an event stream to its end, which must be done or error with nothing after it.
func checkEvents(answer string) string {
	var last string
	for line := range strings.Lines(answer) {
		if name, is := strings.CutPrefix(line, "event: "); is {
			if last == "done" || last == "error" {
				return "an event after the last"
			}
			last = strings.TrimSpace(name)
		}
	}
	if last != "done" && last != "error" {
		return fmt.Sprintf("a stream that ends with %q", last)
	}
	return ""
}

// client sends one request after the other and disconnects early from one in twenty.
type client struct {
	service string
	record  *record
	number  int
}

func (c client) ask(ctx context.Context) {
	for i := c.number * 1_000_003; ctx.Err() == nil; i++ {
		k := kinds[i%len(kinds)]
		asking, leave := ctx, context.CancelFunc(func() {})
		if i%20 == 0 {
			asking, leave = context.WithTimeout(ctx, time.Duration(i%50)*time.Millisecond)
		}
		began := time.Now()
		outcome, wrong := k.ask(asking, c.service, i)
		leave()
		if ctx.Err() != nil {
			return
		}
		c.record.add(outcome, time.Since(began), wrong)
		if outcome != "200" && wait.For(ctx, 50*time.Millisecond) != nil { // back off
			return
		}
	}
}

// stubborn sends the start of requests one byte at a time and never finishes them.
func stubborn(ctx context.Context, service string) {
	address := strings.TrimPrefix(service, "http://")
	for ctx.Err() == nil {
		connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			if wait.For(ctx, time.Second) != nil {
				return
			}
			continue
		}
		for _, b := range []byte("POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n") {
			if _, err = connection.Write([]byte{b}); err != nil || wait.For(ctx, 100*time.Millisecond) != nil {
				break
			}
		}
		if err := connection.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			continue
		}
	}
}

func counted(outcomes map[string]int) string {
	var parts []string
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		parts = append(parts, fmt.Sprintf("%s: %d", outcome, outcomes[outcome]))
	}
	return strings.Join(parts, ", ")
}
