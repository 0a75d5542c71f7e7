package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answer is a response that is complete before its first byte is sent: only a committed transaction
// may return 200.
type answer struct {
	status int
	header map[string]string
	body   []byte
}

func (a answer) write(w http.ResponseWriter) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	// The client may have disconnected; the error is of no use.
	_, _ = w.Write(a.body)
}

// readAnyway is how much of the body of a refused request PostgREST reads, in bytes.
const readAnyway = 8 << 10

// refuse answers a request whose body was not read: after a long one PostgREST seems to keep the
// connection, and resets it. Here that is as soon as another request comes on it, or, for a reset
// that overtakes the answer, at once.
func (a answer) refuse(w http.ResponseWriter, r *http.Request, overtaken bool) {
	if r.ContentLength <= readAnyway {
		a.write(w)
		return
	}
	conn, stream, err := http.NewResponseController(w).Hijack()
	if err != nil { // no socket
		a.write(w)
		return
	}
	defer conn.Close()
	if socket, is := conn.(*net.TCPConn); is {
		_ = socket.SetLinger(0) // close resets
	}
	if overtaken {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	header := w.Header()
	for name, value := range a.header {
		header.Set(name, value)
	}
	response := http.Response{StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Header: header, ContentLength: int64(len(a.body)), Body: io.NopCloser(bytes.NewReader(a.body))}
	if response.Write(stream) == nil && stream.Flush() == nil {
		_, _ = io.CopyN(io.Discard, stream, r.ContentLength)
		_, _ = stream.ReadByte()
	}
}

// outcome is the result of a function call.
type outcome struct {
	shape shape
	rows  int64
	body  []byte // JSON
}

func (o outcome) answer(to target) answer {
	a := answer{status: http.StatusOK, body: o.body, header: map[string]string{"Content-Range": "*/*", "Content-Type": jsonType}}
	if o.rows > 0 {
		a.header["Content-Range"] = fmt.Sprintf("0-%d/*", o.rows-1)
	}
	if to.named {
		a.header["Content-Profile"] = to.schema
	}
	if to.single {
		a.header["Content-Type"] = singleType
	}
	if o.shape == void {
		a.status, a.body = http.StatusNoContent, nil
		delete(a.header, "Content-Type")
	}
	return a
}
