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
)

// MaxRow is the maximum size of a row in bytes: a line of JSON, an issue, or a CSV record with its
// quotes. A longer one ends the reading: an unclosed quote would make it the rest of the file.
const MaxRow = 16 << 20

// readAhead is more than readers buffer beyond a row.
const readAhead = 128 << 10

var errLongRow = errors.New("a row is longer than 16 MiB: is a quote not closed?")

// file is a file on disk.
type file struct {
	path string
	size int64 // bytes, when it was found
}

func addFile(to *[]file, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // a pipe can be read only once, and blocks
		return fmt.Errorf("%s is not a regular file", path)
	}
	*to = append(*to, file{path, info.Size()})
	return nil
}

// open starts a pass over a file, after that of the previous one. A name ending in .gz means gzip.
func (r *Reader) open(f file) (*stream, error) {
	r.close()
	disk, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	r.disk = disk
	var plain io.Reader = disk
	if strings.HasSuffix(strings.ToLower(f.path), ".gz") {
		if plain, err = gzip.NewReader(disk); err != nil {
			return nil, err
		}
	}
	in := newStream(Decode(plain))
	if head, _ := in.Peek(4); bytes.IndexByte(head, 0) >= 0 {
		return nil, errNUL
	}
	return in, nil
}

func (r *Reader) close() {
	if r.disk != nil {
		r.disk.Close()
		r.disk = nil
	}
}

// stream is one pass over a file: decompressed and in UTF-8.
type stream struct {
	*bufio.Reader
	plain io.Reader
	max   int // bytes of a row
	left  int // of these
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
