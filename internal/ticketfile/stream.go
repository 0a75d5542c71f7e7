package ticketfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	limit io.LimitedReader // of the current row
	max   int64            // bytes of a row
	disk  io.Closer
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
	s := newStream(plain)
	s.disk = disk
	return s, nil
}

func newStream(plain io.Reader) *stream {
	s := &stream{max: MaxRow, limit: io.LimitedReader{R: plain}}
	s.Reader = bufio.NewReaderSize(&s.limit, 64<<10)
	s.startRow()
	if mark, _ := s.Peek(3); bytes.Equal(mark, []byte("\uFEFF")) { // as Windows programs write it
		_, _ = s.Discard(len(mark)) // cannot fail: these bytes are in the buffer
	}
	return s
}

// startRow allows the next row its size.
func (s *stream) startRow() { s.limit.N = s.max + readAhead }

// tooLong is an error if the row is longer than it may be. To its reader the stream has ended.
func (s *stream) tooLong(lineBefore int) error {
	if s.limit.N > 0 {
		return nil
	}
	return fmt.Errorf("after line %d a row is longer than %d MiB: is a quote not closed?", lineBefore, MaxRow>>20)
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
