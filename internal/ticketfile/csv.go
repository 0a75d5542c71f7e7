package ticketfile

import (
	"bufio"
	"fmt"
	"io"
)

// csvReader splits a stream into RFC 4180 records, with any separator. Unlike encoding/csv it
// bounds memory: an unclosed quote cannot make it hold the rest of the file.
//
// Lines end in LF or CRLF; within a quoted field either is read as LF. A quote in the middle of an
// unquoted field is an ordinary character.
type csvReader struct {
	from  *bufio.Reader
	comma byte
	max   int // maximum record size in bytes: MaxRow, less in tests
	keep  int // fields beyond this number are counted but not kept
	line  int // lines read so far

	// The last record read.
	start int    // the line it starts on
	count int    // its fields
	buf   []byte // the fields kept, concatenated
	ends  []int  // where each ends in buf
	size  int    // bytes read for it
}

type csvState int

const (
	fieldStart csvState = iota
	unquoted
	quoted
	afterQuote // after a quote in a quoted field: the field's end, or the first of a doubled quote
)

// quoteError describes a quoting error in a record.
type quoteError string

func (e quoteError) Error() string { return string(e) }

// next reads a record. errTooLong and a quoteError concern only that record, and the next call
// continues after it. io.EOF is the end; any other error comes from the stream.
func (c *csvReader) next() error {
	c.start, c.count, c.buf, c.ends, c.size = c.line+1, 0, c.buf[:0], c.ends[:0], 0
	state, quoteLine := fieldStart, 0
	for {
		b, err := c.readByte()
		if err == io.EOF && c.size > 0 && state != quoted {
			b, err = '\n', nil // the last line needs no line feed
		}
		switch {
		case err == io.EOF && c.size > 0:
			return quoteError(fmt.Sprintf("the quote opened on line %d is never closed: the rest of the file counts as this row", quoteLine))
		case err != nil:
			return err
		case state == quoted && b == '"':
			state = afterQuote
		case state == quoted:
			c.add(b)
		case state == afterQuote && b == '"':
			c.add(b)
			state = quoted
		case state == fieldStart && b == '"':
			state, quoteLine = quoted, c.line+1
		case b == c.comma:
			c.endField()
			state = fieldStart
		case b == '\n':
			c.endField()
			if c.size > c.max {
				return errTooLong
			}
			return nil
		case state == afterQuote:
			return c.skipLine(quoteError(fmt.Sprintf("on line %d text follows a closing quote: reading continues after that line", c.line+1)))
		default:
			c.add(b)
			state = unquoted
		}
	}
}

// readByte reads a byte of the record; it counts lines and reads CRLF as LF.
func (c *csvReader) readByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err != nil {
		return 0, err
	}
	c.size++
	if b == '\r' {
		if following, _ := c.from.Peek(1); len(following) == 1 && following[0] == '\n' {
			b, _ = c.from.ReadByte() // cannot fail: the byte is in the buffer
			c.size++
		}
	}
	if b == '\n' {
		c.line++
	}
	return b, nil
}

// skipLine skips the rest of the current line, after which the next record most likely starts.
func (c *csvReader) skipLine(reason error) error {
	for {
		switch b, err := c.readByte(); {
		case err == io.EOF || b == '\n':
			return reason
		case err != nil:
			return err
		}
	}
}

func (c *csvReader) add(b byte) {
	if c.count < c.keep && c.size <= c.max {
		c.buf = append(c.buf, b)
	}
}

func (c *csvReader) endField() {
	if c.count++; c.count <= c.keep {
		c.ends = append(c.ends, len(c.buf))
	}
}

// blank reports whether every kept field is empty: an empty line, or the trailing separators that
// spreadsheets leave.
func (c *csvReader) blank() bool { return len(c.buf) == 0 }

// field returns field i, which must have been kept.
func (c *csvReader) field(i int) string {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return string(c.buf[from:c.ends[i]])
}
