package ticketfile

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// Longer than the line buffer but much shorter than MaxRow, to be fast.
const testMax = 200_000

// as returns n times the letter a.
func as(n int) string { return strings.Repeat("a", n) }

func buffered(parts ...string) *bufio.Reader {
	return bufio.NewReader(strings.NewReader(strings.Join(parts, "")))
}

func TestLongestLine(t *testing.T) {
	t.Parallel()
	lines := &lineReader{max: testMax, from: buffered(as(testMax), "\n", as(testMax+1), "\n", as(2*testMax), "\n", "b\n", as(testMax+1))}
	for i, want := range []struct {
		size int
		err  error
	}{{testMax, nil}, {0, errTooLong}, {0, errTooLong}, {1, nil}, {0, errTooLong}, {0, io.EOF}} {
		line, err := lines.next()
		if err != want.err || len(line) != want.size {
			t.Errorf("line %d has %d bytes, %v, want %+v", i+1, len(line), err, want)
		}
		if len(lines.buf) > testMax {
			t.Errorf("after line %d the buffer has %d bytes", i+1, len(lines.buf))
		}
	}
	if lines.line != 5 {
		t.Errorf("the line number is %d, want 5", lines.line)
	}
}

// A longer record ends the reading, in bounded memory: the file may be of any size.
func TestLongestRecord(t *testing.T) {
	t.Parallel()
	fill := as(testMax - len("n,\"\"\n"))
	endless := &endlessReader{}
	records := newCSVReader(io.MultiReader(strings.NewReader("n,\""+fill+"\"\nm,\"never closed\n"), endless), ',', 3)
	records.max = testMax
	if err := records.next(); err != nil || len(records.fields[1]) != len(fill) || records.line != 4 {
		t.Errorf("the record on line %d is read with %v", records.line, err)
	}
	if err := records.next(); err == nil || err.Error() != "after line 4 a row is longer than 16 MiB: is a quote not closed?" {
		t.Errorf("the error for a longer record is %v", err)
	}
	if endless.read > testMax+10_000 {
		t.Errorf("%d bytes were read", endless.read)
	}
}

// endlessReader returns lines for ever.
type endlessReader struct{ read int }

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "a\n"[i%2]
	}
	r.read += len(p)
	return len(p), nil
}

// A line of MaxRow bytes is read, and reading continues after a longer one.
func TestMaxRow(t *testing.T) {
	t.Parallel()
	if MaxRow != 16<<20 {
		t.Errorf("MaxRow is %d, which errTooLong calls 16 MiB", MaxRow)
	}
	next := jsonRows("f", bufio.NewReader(io.MultiReader(bytes.NewReader(make([]byte, MaxRow)), strings.NewReader("\n"),
		bytes.NewReader(make([]byte, MaxRow+1)), strings.NewReader("\n"+oneTicket))), decodeTicket)
	if _, err := next(); err == nil || !strings.HasPrefix(err.Error(), "f:1: the line is not a JSON object") {
		t.Errorf("the error for a line of MaxRow bytes is %v", err)
	}
	if _, err := next(); err == nil || err.Error() != "f:2: the row is longer than 16 MiB" {
		t.Errorf("the error for a longer line is %v", err)
	}
	if got, err := next(); err != nil || got.Key != "S-1" {
		t.Errorf("the line after it was read as %+v, %v", got, err)
	}
	if got := newCSVReader(nil, ',', 0).max; got != MaxRow {
		t.Errorf("the maximum size of a record is %d bytes", got)
	}
}

func TestNumberOfFieldsIsBounded(t *testing.T) {
	t.Parallel()
	if _, ok := parseHeader([]byte("Issue key,Summary"+strings.Repeat(",", maxColumns-2)), ',', &jiraForm); !ok {
		t.Error("a header with maxColumns columns was rejected")
	}
	if _, ok := parseHeader([]byte("Issue key,Summary"+strings.Repeat(",", maxColumns-1)), ',', &jiraForm); ok {
		t.Error("a header with more than maxColumns columns was accepted")
	}
}
