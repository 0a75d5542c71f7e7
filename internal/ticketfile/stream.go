package ticketfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// MaxRow is the maximum size of a row in bytes: a line of JSON, an issue, or a CSV record with its
// quotes. A longer one ends the reading: an unclosed quote would make it the rest of the file.
const MaxRow = 16 << 20

// readAhead is more than readers buffer beyond a row.
const readAhead = 128 << 10

var errLongRow = errors.New("a row is longer than 16 MiB: is a quote not closed?")

// file is a file on disk and the progress of the current pass over it.
type file struct {
	path string
	size int64        // bytes on disk when it was found
	read atomic.Int64 // bytes on disk read by the current or last pass
}

func newFile(path string) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe can be read only once, and blocks
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return &file{path: path, size: info.Size()}, nil
}

// stream is one pass over a file: decompressed, without its byte order mark.
type stream struct {
	*bufio.Reader
	plain io.Reader
	disk  io.Closer
	max   int // bytes of a row
	left  int // of these
}

// open starts a pass at the beginning of the file. A name ending in .gz means gzip.
func (f *file) open() (*stream, error) {
	disk, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	f.read.Store(0)
	var plain io.Reader = &counter{from: disk, read: &f.read}
	if strings.HasSuffix(strings.ToLower(f.path), ".gz") {
		if plain, err = gzip.NewReader(plain); err != nil {
			disk.Close()
			return nil, fmt.Errorf("unzip %s: %w", f.path, err)
		}
	}
	return newStream(plain, disk), nil
}

func newStream(plain io.Reader, disk io.Closer) *stream {
	s := &stream{plain: plain, disk: disk, max: MaxRow}
	s.Reader = bufio.NewReaderSize(rowReader{s}, 64<<10)
	s.startRow()
	if mark, _ := s.Peek(3); bytes.Equal(mark, []byte("\uFEFF")) { // as Windows programs write it
		_, _ = s.Discard(len(mark)) // cannot fail: these bytes are in the buffer
	}
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

type counter struct {
	from io.Reader
	read *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read.Add(int64(n))
	return n, err
}
