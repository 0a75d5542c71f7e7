package ticketfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// csvReader reads the records of a stream. A record that is too long ends the reading: an unclosed
// quote would make it the rest of the file.
type csvReader struct {
	csv    *csv.Reader
	room   io.LimitedReader // bytes that the current record may still take
	max    int64
	before int // lines before the first record

	line   int // on which the last record starts, 0 before the first
	fields []string
}

// readAhead is more than csv.Reader buffers beyond a record.
const readAhead = 8 << 10

func newCSVReader(from io.Reader, comma byte, before int) *csvReader {
	r := &csvReader{max: MaxRow, before: before, room: io.LimitedReader{R: from}}
	r.csv = csv.NewReader(&r.room)
	r.csv.Comma = rune(comma)
	r.csv.FieldsPerRecord = -1 // checked against the header
	r.csv.ReuseRecord = true
	return r
}

// next reads a record that is not blank. A *csv.ParseError concerns only that record. io.EOF is the
// end; any other error is final.
func (r *csvReader) next() error {
	for {
		r.room.N = r.max + readAhead
		fields, err := r.csv.Read()
		if r.room.N == 0 {
			return fmt.Errorf("after line %d a row is longer than 16 MiB: is a quote not closed?", r.line)
		}
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			r.line = r.before + wrong.StartLine
			return err
		}
		if err != nil {
			return err
		}
		at, _ := r.csv.FieldPos(0)
		r.line, r.fields = r.before+at, fields
		for _, field := range fields {
			if field != "" { // spreadsheets leave rows of separators
				return nil
			}
		}
	}
}
