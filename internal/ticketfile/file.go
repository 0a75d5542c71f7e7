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

// stream is a file opened for one pass: decompressed, without its byte order mark.
type stream struct {
	*bufio.Reader
	file *os.File
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
	buffered := bufio.NewReaderSize(plain, 64<<10)
	skipMark(buffered)
	return &stream{Reader: buffered, file: disk}, nil
}

// skipMark drops the UTF-8 byte order mark that Windows programs write. The next read reports an
// error.
func skipMark(from *bufio.Reader) {
	if mark, _ := from.Peek(3); bytes.Equal(mark, []byte("\uFEFF")) {
		_, _ = from.Discard(len(mark)) // cannot fail: these bytes are in the buffer
	}
}

// close returns nothing: a file that was only read has no error worth reporting.
func (s *stream) close() { _ = s.file.Close() }

type counter struct {
	from io.Reader
	read *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read.Add(int64(n))
	return n, err
}
