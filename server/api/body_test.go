package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// maxBody is the limit of a body, as documented.
const maxBody = 1 << 20

// crowded are messages of 1 MiB whose values take far more memory than their text.
func crowded() map[string]string {
	filled := func(begin, part, end string) string {
		begin = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + begin
		end += `}}`
		return begin + strings.Repeat(part, (maxBody-len(begin)-len(end))/len(part)) + end
	}
	return map[string]string{
		"objects":           filled(`{"x":[{}`, `,{}`, `]}`),
		"lists":             filled(`{"x":[[]`, `,[]`, `]}`),
		"numbers":           filled(`{"x":[1`, `,1`, `]}`),
		"lists of lists":    filled(`{"x":[[1]`, `,[1]`, `]}`),
		"nested lists":      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}}`,
		"a key of brackets": filled(`{"[[[[\"{{{{":[{}`, `,{}`, `]}`),
	}
}

// A message with more values than any request needs is refused before it is decoded. Not parallel:
// allocations are counted for the whole process.
func TestMemoryOfMessages(t *testing.T) {
	s := start(t)
	s.send(http.MethodPost, "/mcp", crowded()["lists"]).want(http.StatusBadRequest) // what the first request alone takes
	for name, body := range crowded() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := s.send(http.MethodPost, "/mcp", body).want(http.StatusBadRequest)
		runtime.ReadMemStats(&after)
		if !strings.Contains(r.text, "at most 4000 names") {
			t.Errorf("%s: %s", name, r.text)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16*maxBody { // the client's part included
			t.Errorf("%s: %d bytes took %d", name, len(body), took)
		}
		s.send(http.MethodPost, "/api/query", body).want(http.StatusBadRequest)
	}
	// What stands in a text is no value.
	s.send(http.MethodPost, "/mcp", message("search", map[string]any{"query": `"` + strings.Repeat(`[{,\`, 400)})).want(http.StatusOK)
}

// announce sends the headers of a request with a body of 1 MiB and, once the service waits for the
// body, this much of it.
func (s *service) announce(path, token string, sent int) (net.Conn, *bufio.Reader) {
	s.t.Helper()
	conn := s.dial(s.t)
	reader := bufio.NewReaderSize(conn, 1<<10)
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", path, token, maxBody)
	if err == nil {
		if _, err = reader.ReadString('\n'); err == nil {
			_, err = reader.ReadString('\n')
		}
	}
	if err == nil {
		_, err = io.WriteString(conn, strings.Repeat(" ", sent))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return conn, reader
}

// A body that was announced and not sent takes no memory. Not parallel, for the same reason.
func TestMemoryOfAnnouncedBodies(t *testing.T) {
	const connections = 64
	s := start(t, authenticated, func(c *setup) { c.limits.ReadTimeout = patience })
	for _, path := range []string{"/mcp", "/api/query"} {
		for _, sent := range []int{0, 16 << 10} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for range connections {
				s.announce(path, s.user(1), sent)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > connections*maxBody/4 {
				t.Errorf("%s: %d bodies of which %d bytes were sent take %d", path, connections, sent, grown)
			}
		}
	}
}

// The body of a caller without a token is not read.
func TestBodiesOfStrangers(t *testing.T) {
	t.Parallel()
	s := start(t, authenticated)
	for _, path := range []string{"/mcp", "/api/query", "/api/knowledge/documents"} {
		conn, reader := s.announce(path, "nonsense", 16<<10)
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusUnauthorized || !response.Close {
			t.Errorf("%s: %d, close is %t", path, response.StatusCode, response.Close)
		}
		_ = conn.Close()
	}
}

// A body that ends early, or comes too slowly, is refused, also where what came of it is JSON.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.limits.ReadTimeout = 300 * time.Millisecond })
	const sent = 16 << 10
	for _, path := range []string{"/mcp", "/api/query"} {
		for status, end := range map[int]func(net.Conn){
			http.StatusBadRequest:     func(conn net.Conn) { _ = conn.(*net.TCPConn).CloseWrite() },
			http.StatusRequestTimeout: func(net.Conn) {},
		} {
			conn, reader := s.announce(path, s.token("service_role"), 0)
			if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}%s`, strings.Repeat(" ", sent)); err != nil {
				t.Fatal(err)
			}
			end(conn)
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != status || !response.Close {
				t.Errorf("%s: %d, not %d; close is %t", path, response.StatusCode, status, response.Close)
			}
		}
	}
}
