package ticketfile

import (
	"bufio"
	"errors"
	"io"
)

// MaxRow is the maximum size of a row in bytes: a line of JSON, or a CSV record with its quotes. A
// longer line is a bad row; a longer record ends the reading.
const MaxRow = 16 << 20

var errTooLong = errors.New("the row is longer than 16 MiB")

// lineReader splits a stream into lines.
type lineReader struct {
	from *bufio.Reader
	max  int // maximum line size in bytes: MaxRow, less in tests
	line int // the number of the last line read
	buf  []byte
}

// next returns the next line without its line feed, valid until the following call. A longer line
// is skipped and gives errTooLong. A last line without line feed counts, unless a read error cut it
// off.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	tooLong := false
	for started := false; ; started = true {
		part, err := l.from.ReadSlice('\n')
		if err == io.EOF && len(part) == 0 && !started {
			return nil, io.EOF
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return nil, err
		}
		if err == nil {
			part = part[:len(part)-1]
		}
		if tooLong = tooLong || len(l.buf)+len(part) > l.max; !tooLong {
			l.buf = append(l.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		l.line++
		if tooLong {
			return nil, errTooLong
		}
		return l.buf, nil
	}
}
