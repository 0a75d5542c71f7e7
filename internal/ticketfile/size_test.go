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

func TestLongestRecord(t *testing.T) {
	t.Parallel()
	fill := as(testMax - len("n,\"\"\n"))
	records := &csvReader{comma: ',', max: testMax, keep: 2,
		from: buffered("n,\"", fill, "\"\n", "n,\"\n", fill, "\"\n", as(2*testMax), "\n", "m,\n", "n,\"\n", fill, fill)}
	for i, want := range []struct {
		start, size int
		reason      string
	}{
		{1, len(fill), ""},
		{2, 0, errTooLong.Error()},
		{4, 0, errTooLong.Error()},
		{5, 0, ""},
		{6, 0, "the quote opened on line 6 is never closed: the rest of the file counts as this row"},
		{8, 0, "EOF"},
	} {
		err := records.next()
		if err == nil {
			if want.reason != "" || len(records.field(1)) != want.size {
				t.Errorf("record %d has %d bytes, want %+v", i, len(records.field(1)), want)
			}
		} else if err.Error() != want.reason {
			t.Errorf("record %d: the error is %v, want %+v", i, err, want)
		}
		if i < 5 && records.start != want.start {
			t.Errorf("record %d starts on line %d, want %d", i, records.start, want.start)
		}
		if len(records.buf) > testMax {
			t.Errorf("after record %d the buffer has %d bytes", i, len(records.buf))
		}
	}
}

// TestMaxRow checks that both formats accept rows up to MaxRow, and continue after a longer one.
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

	rows, err := newCSVRows("f", buffered("Issue key,Summary\n", as(testMax), "\nS-1,n\n"), &notices{})
	if err != nil {
		t.Fatal(err)
	}
	if rows.csv.max != MaxRow {
		t.Errorf("the maximum size of a record is %d bytes", rows.csv.max)
	}
	rows.csv.max = testMax - 1
	if _, err := rows.nextTicket(); err == nil || err.Error() != "f:2: the row is longer than 16 MiB" {
		t.Errorf("the error for a longer record is %v", err)
	}
	if got, err := rows.nextTicket(); err != nil || got.Key != "S-1" {
		t.Errorf("the record after it was read as %+v, %v", got, err)
	}
}

func TestNumberOfFieldsIsBounded(t *testing.T) {
	t.Parallel()
	records := &csvReader{comma: ',', max: testMax, keep: 3, from: buffered(strings.Repeat(",a", 10_000))}
	if err := records.next(); err != nil || records.count != 10_001 {
		t.Errorf("the record has %d fields, %v", records.count, err)
	}
	if len(records.ends) != 3 || len(records.buf) != 2 {
		t.Errorf("the buffer has %d fields and %d bytes, want 3 and 2", len(records.ends), len(records.buf))
	}
	if _, ok := parseHeader([]byte("Issue key,Summary"+strings.Repeat(",", maxColumns-2)), ',', &jiraForm); !ok {
		t.Error("a header with maxColumns columns was rejected")
	}
	if _, ok := parseHeader([]byte("Issue key,Summary"+strings.Repeat(",", maxColumns-1)), ',', &jiraForm); ok {
		t.Error("a header with more than maxColumns columns was accepted")
	}
}
