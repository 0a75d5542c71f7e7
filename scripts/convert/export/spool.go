package export

import (
	"bufio"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// spool is a file without a name, of lines of JSON: nothing of a tracker stays on the disk.
type spool struct {
	file *os.File
	out  *bufio.Writer
	json *jsontext.Encoder
	rows int
}

// spoolBuffer is a few rows.
const spoolBuffer = 256 << 10

// lax keeps what the files have; clean makes it storable.
var lax = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "tasklens-") // mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil && runtime.GOOS != "windows" { // where an open file keeps its name
		return nil, errors.Join(err, file.Close())
	}
	out := bufio.NewWriterSize(file, spoolBuffer)
	return &spool{file: file, out: out, json: jsontext.NewEncoder(out, lax)}, nil
}

func (s *spool) write(row any) error {
	s.rows++
	return json.MarshalEncode(s.json, row, lax)
}

func (s *spool) close() {
	s.file.Close()
	if runtime.GOOS == "windows" {
		os.Remove(s.file.Name())
	}
}

// rewind returns what was written.
func (s *spool) rewind() (io.Reader, error) {
	if err := s.out.Flush(); err != nil {
		return nil, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return s.file, nil
}

// draft is a ticket in a spool, with what its JSON leaves out.
type draft struct {
	Ticket
	Key    string      `json:"written"` // as the file has it
	Kept   []line      `json:"kept"`
	Warned []*RowError `json:"warned"`
}

func draftOf(t Ticket) draft { return draft{t, t.Written, t.kept, t.Warnings} }

func (d draft) ticket() Ticket {
	t := d.Ticket
	t.Written, t.kept, t.Warnings = d.Key, d.Kept, d.Warned
	return t
}

// eachDraft yields the tickets of a spool.
func eachDraft(in io.Reader, yield func(Ticket) error) error {
	rows := jsontext.NewDecoder(bufio.NewReaderSize(in, spoolBuffer), lax)
	for {
		var d draft
		err := json.UnmarshalDecode(rows, &d)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = yield(d.ticket())
		}
		if err != nil {
			return err
		}
	}
}

// writeLines writes rows as lines of JSON.
func writeLines[T any](out io.Writer, rows ...T) error {
	to := jsontext.NewEncoder(out, lax)
	for _, row := range rows {
		if err := json.MarshalEncode(to, row, lax); err != nil {
			return err
		}
	}
	return nil
}
