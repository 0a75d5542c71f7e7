package api_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// dial opens a connection and waits for a response on it, so the service has accepted it.
func (s *service) dial() (net.Conn, *http.Response) {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(connection, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		s.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return connection, response
}

// Idle connections are limited: they use memory before any request is made.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := start(t, counting, func(c *setup) { c.limits.Connections = 2 })
	first, response := s.dial()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the first connection: %d", response.StatusCode)
	}
	if _, response = s.dial(); response.StatusCode != http.StatusOK {
		t.Fatalf("the second connection: %d", response.StatusCode)
	}
	_, response = s.dial()
	var problem struct {
		Detail    string
		RequestID string `json:"request_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil {
		t.Fatal(err)
	}
	if h := response.Header; response.StatusCode != http.StatusServiceUnavailable || !response.Close || problem.Detail != "The service is busy." ||
		h.Get("Content-Type") != "application/problem+json" || h.Get("Retry-After") != "1" ||
		h.Get("X-Request-Id") == "" || h.Get("X-Request-Id") != problem.RequestID {
		t.Errorf("the third connection: %d %v %+v", response.StatusCode, h, problem)
	}
	_ = first.Close()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, response = s.dial(); response.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatal("no connection is free")
		}
	}
}

// Readiness needs no token and is not rate-limited, so concurrent checks share one database call.
func TestReadinessIsSharedOut(t *testing.T) {
	t.Parallel()
	s := start(t, counting)
	const askers = 20
	let := make(chan struct{})
	s.database.intercept(func(_ http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "list_migrations" {
			<-let
		}
		return false
	})
	var group sync.WaitGroup
	for range askers {
		group.Go(func() { s.get("/readyz").want(http.StatusOK) })
	}
	s.counted("tasklens_http_requests_in_flight 21") // all of them, and this one
	close(let)
	group.Wait()
	// A request may be counted in flight shortly before it joins the shared call.
	asked := len(s.database.requests("list_migrations"))
	if asked > askers/2 {
		t.Errorf("the database was asked %d times", asked)
	}
	s.get("/readyz").want(http.StatusOK)
	if again := len(s.database.requests("list_migrations")); again != asked+1 {
		t.Errorf("later requests got the earlier reading: %d, then %d reads", asked, again)
	}
}
