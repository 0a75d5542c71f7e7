package gateway

import (
	"fmt"
	"net/http"
	"strconv"
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
