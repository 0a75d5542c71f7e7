package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tasklens/internal/limit"
	"tasklens/server/api"
)

// limited allows this many requests an hour.
func limited(requests int) func(*setup) {
	return func(c *setup) {
		c.limits.Rate = limit.New(limit.Policy{Requests: requests, Period: time.Hour}, nil)
	}
}

// remaining checks the rate limit's headers.
func (r *response) remaining(limit, rest string) *response {
	r.t.Helper()
	if policy, left := r.header.Get("RateLimit-Policy"), r.header.Get("RateLimit"); policy != `"requests";q=`+limit+`;w=3600` || !strings.HasPrefix(left, `"requests";r=`+rest+`;t=`) {
		r.t.Errorf("RateLimit-Policy is %q, RateLimit %q", policy, left)
	}
	return r
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated, limited(3))
	// A user has one bucket, for all tokens and routes.
	s.get("/api/projects", asking(s.user(1))...).want(http.StatusOK).remaining("3", "2")
	s.send(http.MethodPost, "/api/query", "nonsense", asking(s.user(1, "session_id", "other"))...).want(http.StatusBadRequest).remaining("3", "1")
	s.get("/api/embeddings/status", asking(s.user(1))...).want(http.StatusForbidden).remaining("3", "0")
	for _, path := range []string{"/api/projects", "/api/statuses"} {
		r := s.get(path, asking(s.user(1))...).want(http.StatusTooManyRequests).remaining("3", "0")
		if wait := r.header.Get("Retry-After"); len(wait) != 4 { // the better part of 20 minutes
			t.Errorf("Retry-After is %q", wait)
		}
	}
	// Other users have their own bucket. Requests without a valid token share that of their address,
	// whatever their headers say.
	s.get("/api/projects", asking(s.user(2))...).want(http.StatusOK).remaining("3", "2")
	// A tool call counts once, whatever it requests, and so does every other message.
	s.send(http.MethodPost, "/mcp", message("search", map[string]any{"query": "payment"}), asking(s.user(2))...).want(http.StatusOK).remaining("3", "1")
	s.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, asking(s.user(2))...).want(http.StatusOK).remaining("3", "0")
	if r := s.send(http.MethodPost, "/mcp", message("list_projects", nil), asking(s.user(2))...).want(http.StatusTooManyRequests); r.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	for i, header := range [][]string{nil, asking("nonsense"), asking(s.user(3, "aud", "another")), {"X-Forwarded-For", "192.0.2.1", "Forwarded", "for=192.0.2.1", "X-Real-Ip", "192.0.2.1"}, asking(s.user(4, "aud", "another"))} {
		if r := s.get("/api/projects", header...); (r.status == http.StatusTooManyRequests) != (i >= 3) || i < 3 && r.status != http.StatusUnauthorized {
			t.Errorf("without a good token, request %d: %d", i, r.status)
		}
	}
	s.get("/api/projects", asking(s.user(3))...).want(http.StatusOK).remaining("3", "2")
	for range 5 {
		for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
			if r := s.get(path).want(http.StatusOK); r.header.Get("RateLimit") != "" {
				t.Errorf("%s is counted", path)
			}
		}
	}
}

// With AUTH=off a token proves nothing, so a forged one gets no bucket of its own.
func TestForgedTokensGetNoBucket(t *testing.T) {
	t.Parallel()
	s := start(t, limited(3))
	for i, header := range [][]string{nil, asking(s.user(1)), asking("forged.one.a"), asking("forged.one.b"), nil} {
		if r := s.get("/api/projects", header...); (r.status == http.StatusTooManyRequests) != (i >= 3) {
			t.Errorf("request %d: %d", i, r.status)
		}
	}
}

// Requests beyond the limit in flight are rejected at once. A stream counts until it ends; health
// is exempt.
func TestRequestsInFlight(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.limits.InFlight = 2 })
	let := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(let) }) }
	defer release()
	arrived := make(chan struct{}, 10)
	s.streams(func(say func(piece, finish string), _ *http.Request, raw io.Writer) {
		say("Wait [1]. ", "")
		arrived <- struct{}{}
		<-let
		say("Done.", "stop")
		_, _ = io.WriteString(raw, "data: [DONE]\n\n")
	})
	s.database.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "search_hybrid" {
			arrived <- struct{}{}
			<-let
		}
		return false
	})
	stream := s.openStream(doubleCharge, nil)
	whole := make(chan *response, 1)
	go func() { whole <- s.post("/api/hybrid-search", map[string]any{"query": "payment"}) }()
	<-arrived
	<-arrived
	for _, path := range []string{"/api/projects", "/api/statuses"} {
		r := s.get(path).want(http.StatusServiceUnavailable)
		if r.header.Get("Retry-After") != "1" || r.problem().Detail != "The service is busy." {
			t.Errorf("%v %s", r.header, r.text)
		}
	}
	s.get("/healthz").want(http.StatusOK)
	s.get("/readyz").want(http.StatusOK)
	release()
	if _, _, last := stream.rest(); last.name != "done" {
		t.Errorf("the stream ended with %+v", last)
	}
	(<-whole).want(http.StatusOK)
	// Both slots are free again shortly after the last byte.
	for end := time.Now().Add(patience); s.get("/api/projects").status != http.StatusOK; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no place is free")
		}
	}
	for range 5 {
		s.get("/api/projects").want(http.StatusOK)
	}
}

// Sixty requests of one user leave room for the others: all but a few are refused at once.
func TestOneUsersRequestsInFlight(t *testing.T) {
	t.Parallel()
	const sent, most = 60, 6
	s := start(t, authenticated)
	let := make(chan struct{})
	release := sync.OnceFunc(func() { close(let) })
	defer release()
	var sessions [3]string
	for i := range sessions {
		sessions[i] = s.user(1, "session_id", fmt.Sprint(i))
	}
	s.database.intercept(func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
		if slices.Contains(sessions[:], strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			<-let
		}
		return false
	})
	ended := make(chan *response, sent)
	for i := range sent {
		go func() {
			ended <- s.get([]string{"/api/projects", "/api/statuses"}[i%2], asking(sessions[i%3])...)
		}()
	}
	for range sent - most {
		r := (<-ended).want(http.StatusTooManyRequests)
		if p := r.problem(); r.header.Get("Retry-After") != "1" || p.Code != "rate_limited" || p.Detail != "Too many requests at the same time: at most 6." {
			t.Errorf("%v %+v", r.header, p)
		}
	}
	for range 3 {
		s.get("/api/projects", asking(s.user(2))...).want(http.StatusOK)
	}
	for range most + 1 { // the service's key is of a backend
		s.get("/api/statuses", asking(s.user(0, "role", "service_role", "sub", nil))...).want(http.StatusOK)
	}
	release()
	for range most {
		(<-ended).want(http.StatusOK)
	}
	for end := time.Now().Add(patience); s.get("/api/projects", asking(s.user(1))...).status != http.StatusOK; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no place is free")
		}
	}
}

// A client that sends slowly, or nothing, loses its connection.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) {
		c.limits = api.Limits{HeaderTimeout: 200 * time.Millisecond, ReadTimeout: 600 * time.Millisecond, WriteTimeout: time.Minute, IdleTimeout: 400 * time.Millisecond}
	})
	for name, c := range map[string]struct {
		sent   string
		answer string // with which the connection ends
		least  time.Duration
	}{
		"nothing":      {"", "", 100 * time.Millisecond},
		"nothing more": {"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", `{"status":"ok"}`, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := s.dial(t)
			began := time.Now()
			if _, err := io.WriteString(connection, c.sent); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(connection)
			if took := time.Since(began); err != nil || took < c.least {
				t.Errorf("it ended after %v (%v)", took, err)
			}
			if !strings.Contains(string(text), c.answer) {
				t.Errorf("the answer is %q", text)
			}
		})
	}
}

// A client that does not read its response loses its connection. A stream may last as long as it is
// read, and while it is silent it sends heartbeats.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	s := startTracker(t, func(c *setup) { c.limits.WriteTimeout, c.heartbeat = 200*time.Millisecond, 100*time.Millisecond })
	s.streams(func(say func(piece, finish string), _ *http.Request, raw io.Writer) {
		say("Wait [1]. ", "")
		time.Sleep(time.Second) // far longer than a response may take
		say("Done.", "stop")
		_, _ = io.WriteString(raw, "data: [DONE]\n\n")
	})
	opened := s.openStream(doubleCharge, nil)
	if _, _, last := opened.rest(); last.name != "done" || opened.comments < 3 {
		t.Errorf("the stream ended with %+v, after %d heartbeats", last, opened.comments)
	}
	const size = 16 << 20 // more than lies between us and a client
	s.database.answer("list_projects", http.StatusOK, `[{"project_id":1,"key":"A","tickets":0,"name":"`+strings.Repeat("x", size)+`"}]`)
	connection := s.dial(t)
	if _, err := io.WriteString(connection, "GET /api/projects HTTP/1.1\r\nHost: a\r\nX-Request-Id: unread\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// Too slow to read the rest within the time limit, even if the limit starts late.
	read, part := 0, make([]byte, 128<<10)
	for {
		n, err := connection.Read(part)
		read += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the connection is kept; %d bytes were sent", read)
		}
		if err != nil || read >= size {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if read >= size {
		t.Errorf("all %d bytes were sent", read)
	}
}

func TestBrowsers(t *testing.T) {
	t.Parallel()
	const ours = "https://app.example.com"
	s := start(t, authenticated, limited(1000), func(c *setup) { c.limits.Origins = []string{ours, "http://localhost:3000"} })
	const headers = "apikey,authorization,baggage,content-type,sentry-trace,x-client-info,x-datadog-trace-id"
	preflight := func(origin string) *response {
		return s.send(http.MethodOptions, "/api/query", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", headers)
	}
	r := preflight(ours).want(http.StatusNoContent)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": ours, "Access-Control-Allow-Methods": "GET, POST, DELETE", "Access-Control-Max-Age": "600", "Vary": "Origin, Access-Control-Request-Headers",
		"Access-Control-Allow-Credentials": "", "Access-Control-Allow-Headers": headers,
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, origin := range []string{"https://evil.example.com", "https://app.example.com.evil.net", "http://app.example.com", "https://APP.example.com", "null", "*"} {
		if r := preflight(origin).want(http.StatusForbidden); r.header.Get("Access-Control-Allow-Origin")+r.header.Get("Access-Control-Allow-Headers") != "" || r.header.Get("Vary") != "Origin" ||
			!strings.Contains(r.text, `"code":"origin_not_allowed"`) {
			t.Errorf("%s may: %v", origin, r.header)
		}
		if r := s.get("/api/projects", append(asking(s.user(1)), "Origin", origin)...).want(http.StatusForbidden); r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may read", origin)
		}
	}
	// A page can read errors too, even those sent before routing.
	for name, r := range map[string]*response{
		"an answer":         s.get("/api/projects", append(asking(s.user(1)), "Origin", ours)...).want(http.StatusOK),
		"no token":          s.get("/api/projects", "Origin", ours).want(http.StatusUnauthorized),
		"no route":          s.get("/nothing", "Origin", ours).want(http.StatusNotFound),
		"too large a body":  s.send(http.MethodPost, "/api/query", strings.Repeat("x", 1<<20+1), append(asking(s.user(1)), "Origin", ours)...).want(http.StatusRequestEntityTooLarge),
		"an unknown method": s.send("BREW", "/api/query", "", "Origin", ours).want(http.StatusMethodNotAllowed),
		"the other's own":   s.get("/healthz", "Origin", "http://localhost:3000").want(http.StatusOK),
	} {
		if got := r.header.Get("Access-Control-Allow-Origin"); got != ours && got != "http://localhost:3000" {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", name, got)
		}
		for _, header := range []string{"X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", "Cache-Status"} {
			if !strings.Contains(r.header.Get("Access-Control-Expose-Headers"), header) {
				t.Errorf("%s: a page may not read %s", name, header)
			}
		}
	}
}

// Without CORS_ORIGINS no other origin may call, and no response is a page.
func TestOtherPagesMayNot(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, r := range []*response{
		s.get("/api/projects", "Origin", "https://example.com").want(http.StatusForbidden),
		s.send(http.MethodOptions, "/api/projects", "", "Origin", "https://example.com", "Access-Control-Request-Method", "GET").want(http.StatusForbidden),
		s.send(http.MethodPost, "/api/query", strings.Repeat("x", 1<<20+1)).want(http.StatusRequestEntityTooLarge),
		s.send("BREW", "/api/query", "").want(http.StatusMethodNotAllowed),
	} {
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "", "Vary": "", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin", "Server": "", "Cache-Control": "",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}
