package api

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"tasklens/internal/fault"
)

// ambiguity reports why a proxy may disagree with us on where a request ends; its connection must
// close (RFC 9112, section 11.2). fasthttp rejects the other cases: repeated, signed and padded
// lengths.
func ambiguity(header *fasthttp.RequestHeader) error {
	var encoded, sized bool
	for line := range bytes.Lines(header.RawHeaders()) {
		if !bytes.HasSuffix(line, []byte("\r\n")) || line[0] == ' ' || line[0] == '\t' {
			return fault.New(fault.Invalid, "Each header must be one line that ends with CR LF.")
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		encoded = encoded || bytes.EqualFold(name, []byte(fasthttp.HeaderTransferEncoding))
		sized = sized || bytes.EqualFold(name, []byte(fasthttp.HeaderContentLength))
	}
	const chunked = -1
	switch {
	case encoded && sized:
		return fault.New(fault.Invalid, "Content-Length and Transfer-Encoding must not both be sent.")
	case encoded && header.ContentLength() != chunked:
		return fault.New(fault.Invalid, "Transfer-Encoding must be chunked.")
	default:
		return nil
	}
}
