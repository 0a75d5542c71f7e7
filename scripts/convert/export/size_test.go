package export

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// A row that is too long ends the reading in bounded memory, in every format: the file may be of
// any size. One of the longest size is read.
func TestLongestRow(t *testing.T) {
	t.Parallel()
	const most = 2 << 20
	fill := strings.Repeat("a", most-1000)
	for name, c := range map[string]struct {
		before, row, endless string
		rows                 func(*stream) (rows, error)
	}{
		"lines":   {"", `{"ticket_id":"S-1","project_id":"S","name":"n","description":"` + fill + `"}` + "\n", `{"name":"`, func(in *stream) (rows, error) { return newLines(in, newReader(Options{})), nil }},
		"records": {"Issue key,Summary\n", `S-1,"` + fill + `"` + "\n", `S-2,"`, func(in *stream) (rows, error) { return newRecords(in, newReader(Options{})) }},
		"issues": {"[", `{"number":1,"title":"n","url":"https://github.com/a/s/issues/1","body":"` + fill + `"}` + "\n,", `{"title":"`,
			func(in *stream) (rows, error) { return newIssues(in, newReader(Options{})) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endless := &endlessReader{}
			in := newStream(io.MultiReader(strings.NewReader(c.before+c.row+c.endless), endless))
			in.max = most
			rows, err := c.rows(in)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := rows.next(); err != nil || got.Key != "S-1" || len(got.Description)+len(got.Name) < len(fill) {
				t.Errorf("a row of the longest size is read as %.20q, %v", got.Key, err)
			}
			if _, err := rows.next(); err == nil || !errors.Is(err, errLongRow) {
				t.Errorf("the error for a longer row is %v", err)
			}
			if endless.read > most+2*readAhead {
				t.Errorf("%d bytes were read", endless.read)
			}
		})
	}
	if newStream(new(bytes.Buffer)).max != 16<<20 {
		t.Error("the error names another size than the longest")
	}
}

// endlessReader returns letters for ever.
type endlessReader struct{ read int }

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	r.read += len(p)
	return len(p), nil
}

func TestNumberOfFieldsIsBounded(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]bool{maxColumns: true, maxColumns + 1: false} {
		_, err := newRecords(newStream(strings.NewReader("Issue key,Summary"+strings.Repeat(",", columns-2))), newReader(Options{}))
		if (err == nil) != want {
			t.Errorf("a header of %d columns: %v", columns, err)
		}
	}
}
