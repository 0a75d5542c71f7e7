package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tasklens/server/api"
)

// counting is a service with metrics.
func counting(c *setup) {
	c.more = func(parts *api.Parts) { parts.MetricsHere = true }
}

// counted checks lines of /metrics, and waits for those that are written shortly after their
// response.
func (s *service) counted(lines ...string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		text, missing := s.get("/metrics").want(http.StatusOK).text, ""
		for _, line := range lines {
			if !strings.Contains("\n"+text, "\n"+line+"\n") {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not stand in\n%s", missing, text)
		}
	}
}

func duration(method, route, status string) string {
	return `tasklens_http_request_duration_seconds_count{method="` + method + `",route="` + route + `",status="` + status + `"} `
}

// A stream is counted when it ends, by how it ended.
func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	s := startTracker(t, counting, func(c *setup) { c.threshold = 0 })
	going := make(chan struct{})
	s.streams(func(say func(string, string), r *http.Request, _ io.Writer) {
		say("So ", "")
		select {
		case <-going:
			say(".", "stop")
		case <-r.Context().Done():
		}
	})
	opened := s.openStream(doubleCharge, nil)
	opened.next()
	s.counted("tasklens_http_requests_in_flight 2")
	close(going)
	opened.rest()
	s.counted(duration("POST", "/api/query", "2xx")+"1", "tasklens_http_requests_in_flight 1")
	s.model.answer("completions", 500, "")
	s.openStream("and why?", nil).rest()
	s.counted(duration("POST", "/api/query", "5xx") + "1")
}

// Lines of a request have its id. Above debug level no line contains queries, texts or keys.
func TestLogHasNoTexts(t *testing.T) {
	t.Parallel()
	const planted = "Zwetschgenknoedel"
	s := startTracker(t, func(c *setup) { c.threshold, c.logLevel = 0, slog.LevelInfo })
	s.index(nil, []ticket{{Key: "TX-9000", Project: "TX", Name: planted + " refused", Description: "The " + planted + " key " + planted}})
	token := s.token("anon")
	busy := func() {
		s.post("/api/hybrid-search", map[string]any{"query": planted, "status_filter": planted})
		s.post("/api/query", map[string]any{"question": "What of " + planted + "?"})
		s.post("/api/query", map[string]any{"question": planted, "corpus": planted, planted: 1})
		s.send(http.MethodPost, "/api/query", `{"question": `+planted+`}`)
		s.post("/api/query", map[string]any{"question": planted}, "Authorization", "Bearer "+token)
		s.post("/api/query", map[string]any{"question": planted}, "Authorization", "Bearer "+planted)
		s.post("/api/tickets/similar", map[string]any{"text": planted})
		s.post("/api/knowledge/documents", map[string]any{"title": planted, "content": planted, "keywords": []string{planted}})
		s.post("/api/knowledge/documents", map[string]any{"id": planted, "title": planted, "content": planted})
		s.get("/api/knowledge/search?q=" + planted)
		s.get("/api/knowledge/entities/" + planted)
		s.get("/api/knowledge/entities/" + planted + "?limit=" + planted)
		s.get("/" + planted)
		s.generate("TX", "TX-9000")
	}
	busy()
	s.model.answer("embeddings", 500, said("server_error"))
	busy()
	s.model.intercept(nil)
	s.database.intercept(func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) bool {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"23514","message":"new row violates a check","details":"Failing row contains (`+planted+`).","hint":"`+planted+`"}`)
		return true
	})
	busy()
	s.database.intercept(nil)
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	if len(lines) < 20 {
		t.Errorf("only %d lines were logged", len(lines))
	}
	for _, line := range lines {
		for _, secret := range []string{planted, strings.ToLower(planted), token, modelKey} {
			if strings.Contains(line, secret) {
				t.Errorf("%q stands in %s", secret, line)
			}
		}
		if !regexp.MustCompile(`"request_id":"[^"]+"`).MatchString(line) || strings.Count(line, `"request_id"`) != 1 {
			t.Errorf("no request id, or several: %s", line)
		}
	}
}

// A request counts for the route that it reached, whatever that responds. One that reaches none has
// no label of its own, nor that of the console, whose path is /.
func TestRequestsAreCountedByRoute(t *testing.T) {
	t.Parallel()
	s := start(t, counting)
	s.get("/docs/nothing").want(http.StatusNotFound)
	s.get("/nothing").want(http.StatusNotFound)
	s.send(http.MethodDelete, "/api/tickets/similar", "").want(http.StatusMethodNotAllowed)
	foreign, err := http.NewRequest(http.MethodGet, s.url+"/api/statuses", nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Host = "tracker.example"
	s.do(foreign, "").want(http.StatusForbidden)
	s.counted(duration("GET", "/docs/:file", "4xx")+"1", duration("GET", "unmatched", "4xx")+"2", duration("DELETE", "unmatched", "4xx")+"1")
}
