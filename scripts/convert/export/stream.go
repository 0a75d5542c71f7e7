package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
)

// MaxRow is the maximum size of a row in bytes: a line of JSON, an issue, or a CSV record with its
// quotes. A longer one ends the reading: an unclosed quote would make it the rest of the file.
const MaxRow = 16 << 20

// readAhead is more than readers buffer beyond a row.
const readAhead = 128 << 10

var errLongRow = errors.New("a row is longer than 16 MiB: is a quote not closed?")

// stream is one pass over a file: decompressed and in UTF-8.
type stream struct {
	*bufio.Reader
	io.Closer
	plain io.Reader
	max   int // bytes of a row
	left  int // of these
}

// openStream opens a file. A name ending in .gz means gzip.
func openStream(path string) (*stream, error) {
	disk, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var plain io.Reader = disk
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		plain, err = gzip.NewReader(disk)
	}
	var in *stream
	if err == nil {
		in = newStream(Decode(plain))
		in.Closer = disk
		if head, _ := in.Peek(4); bytes.IndexByte(head, 0) >= 0 {
			err = errNUL
		}
	}
	if err != nil {
		disk.Close()
	}
	return in, err
}

func newStream(plain io.Reader) *stream {
	s := &stream{plain: plain, max: MaxRow}
	s.Reader = bufio.NewReaderSize(rowReader{s}, 64<<10)
	s.startRow()
	return s
}

// startRow allows the next row its size.
func (s *stream) startRow() { s.left = s.max + readAhead }

// rowReader fails within a row that is too long.
type rowReader struct{ *stream }

func (r rowReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongRow
	}
	n, err := r.plain.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
