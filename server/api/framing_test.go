package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to the service, which lasts for a while.
func (s *service) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(4 * patience))
	return conn
}

// exchange sends raw bytes and returns the statuses of all responses until the connection is
// closed. The bytes end with a request with Connection: close unless the service closes the
// connection itself.
func (s *service) exchange(raw string) (statuses []int, last *http.Response) {
	s.t.Helper()
	conn := s.dial(s.t)
	if _, err := io.WriteString(conn, raw); err != nil {
		s.t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			if err != io.ErrUnexpectedEOF && err != io.EOF {
				s.t.Errorf("%q: after %v: %v", raw, statuses, err)
			}
			return statuses, last
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			s.t.Errorf("%q: read the response: %v", raw, err)
		}
		statuses, last = append(statuses, response.StatusCode), response
	}
}

// Requests that a proxy could parse differently are rejected, and the rest of the connection is not
// parsed as a request.
func TestAmbiguousRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	const (
		smuggled = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
		line     = "POST /api/hybrid-search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		old      = "POST /api/hybrid-search HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: keep-alive\r\n"
		body     = `{"query":"why"}`
		chunks   = "f\r\n" + body + "\r\n0\r\n\r\n"
	)
	for name, raw := range map[string]string{
		"two lengths":                     line + "Content-Length: 15\r\nContent-Length: 0\r\n\r\n" + body,
		"two equal lengths":               line + "Content-Length: 15\r\nContent-Length: 15\r\n\r\n" + body,
		"two lengths, one in other case":  line + "content-length: 15\r\nCONTENT-LENGTH: 0\r\n\r\n" + body,
		"a list of lengths":               line + "Content-Length: 15, 15\r\n\r\n" + body,
		"a length and chunks":             line + "Content-Length: 15\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"chunks and a length":             line + "Transfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n" + chunks,
		"chunks and a length of nothing":  line + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + chunks,
		"a length and no encoding":        line + "Content-Length: 15\r\nTransfer-Encoding: identity\r\n\r\n" + body,
		"a signed length":                 line + "Content-Length: +15\r\n\r\n" + body,
		"a negative length":               line + "Content-Length: -15\r\n\r\n" + body,
		"a length with a blank inside":    line + "Content-Length: 1 5\r\n\r\n" + body,
		"a hexadecimal length":            line + "Content-Length: 0xf\r\n\r\n" + body,
		"a length with a fraction":        line + "Content-Length: 15.0\r\n\r\n" + body,
		"an empty length":                 line + "Content-Length: \r\n\r\n" + body,
		"a length beyond 64 bits":         line + "Content-Length: 18446744073709551631\r\n\r\n" + body,
		"a blank before the colon":        line + "Content-Length : 15\r\n\r\n" + body,
		"a tab before the colon":          line + "Transfer-Encoding\t: chunked\r\n\r\n" + chunks,
		"a CR inside":                     line + "X-A: b\rContent-Length: 5\r\nContent-Length: 15\r\n\r\n" + body,
		"a NUL inside":                    line + "X-A: b\x00\r\nContent-Length: 15\r\n\r\n" + body,
		"an unknown encoding":             line + "Transfer-Encoding: gzip\r\n\r\n" + chunks,
		"two encodings":                   line + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks,
		"an encoding twice":               line + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"an encoding that looks alike":    line + "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
		"chunks before HTTP/1.1":          old + "Transfer-Encoding: chunked\r\n\r\n" + chunks,
		"chunks and a length before 1.1":  old + "Transfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n" + chunks,
		"a chunk of a negative size":      line + "Transfer-Encoding: chunked\r\n\r\n-f\r\n" + body + "\r\n0\r\n\r\n",
		"a chunk of a prefixed size":      line + "Transfer-Encoding: chunked\r\n\r\n0xf\r\n" + body + "\r\n0\r\n\r\n",
		"a chunk of an endless size":      line + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + body + "\r\n0\r\n\r\n",
		"a chunk that is longer":          line + "Transfer-Encoding: chunked\r\n\r\ne\r\n" + body + "\r\n0\r\n\r\n",
		"a chunk that ends with LF":       line + "Transfer-Encoding: chunked\r\n\r\nf\n" + body + "\n0\n\n",
		"an extension with LF":            line + "Transfer-Encoding: chunked\r\n\r\nf;a=\n" + body + "\r\n0\r\n\r\n",
		"no version":                      "GET /healthz\r\nHost: localhost\r\n\r\n",
		"two hosts":                       "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n",
		"no name":                         "GET /healthz HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n",
		"no colon":                        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n",
		"headers that begin with a blank": "GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n",
	} {
		statuses, last := s.exchange(raw + smuggled)
		if len(statuses) != 1 || !last.Close || statuses[0] != http.StatusBadRequest && !strings.Contains(name, "length") {
			t.Errorf("%s: answered with %v, %v", name, statuses, last.Header)
		}
	}
}

// The header timeout covers all headers, so sending a byte at a time does not extend it.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *setup) { c.limits.HeaderTimeout = 200 * time.Millisecond })
	conn := s.dial(t)
	answered := make(chan *http.Response, 1)
	go func() {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("the headers are not refused: %v", err)
		}
		answered <- response
	}()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case response := <-answered:
			if response != nil && (response.StatusCode != http.StatusRequestTimeout || !response.Close) {
				t.Errorf("%d, %v", response.StatusCode, response.Header)
			}
			return
		case <-time.After(10 * time.Millisecond):
			_, _ = io.WriteString(conn, "a")
		}
	}
}
