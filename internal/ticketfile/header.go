package ticketfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxColumns limits the header. An export repeats the column Comment for the ticket with the most
// comments.
const maxColumns = 100_000

// csvForm describes the CSV exports of one tracker.
type csvForm struct {
	name     string
	names    fieldNames
	required []string
	read     []string // further columns that are read, in lower case
	prefixes []string // of further columns that are read, in lower case
	ticket   func(*csvRows, place) (rawTicket, error)
	project  func(*csvRows, Ticket) Project
}

var csvForms = []*csvForm{&jiraForm, &linearForm}

type header struct {
	form    *csvForm
	line    int // its line
	comma   byte
	width   int              // the number of columns
	columns map[string][]int // positions of each column, by its name in lower case; a name may repeat
	names   []string         // of all columns
}

var separators = []byte{',', ';', '\t'}

// readHeader reads the first non-blank line. It picks the format and separator with which the
// required columns are found.
func readHeader(lines *lineReader) (header, error) {
	var line []byte
	for len(bytes.TrimSpace(line)) == 0 {
		next, err := lines.next()
		if err == io.EOF {
			return header{}, errors.New("the file is empty; a CSV export starts with a line of column names")
		}
		if err != nil {
			return header{}, err
		}
		line = bytes.TrimSuffix(next, []byte("\r")) // only this: a tab may be a separator
	}
	for _, form := range csvForms {
		for _, comma := range separators {
			if h, ok := parseHeader(line, comma, form); ok {
				h.line = lines.line
				return h, nil
			}
		}
	}
	return header{}, fmt.Errorf("the first line names neither the columns %s, which a CSV export from Jira has, nor %s, which one from Linear has: %s",
		strings.Join(jiraForm.required, " and "), strings.Join(linearForm.required, ", "), quote(string(line)))
}

func parseHeader(line []byte, comma byte, form *csvForm) (header, bool) {
	record := newCSVReader(bytes.NewReader(line), comma, 0)
	if record.next() != nil || len(record.fields) > maxColumns {
		return header{}, false
	}
	h := header{form: form, comma: comma, width: len(record.fields), columns: map[string][]int{}}
	for i, name := range record.fields {
		name = strings.TrimSpace(clean(name))
		h.names = append(h.names, name)
		lower := strings.ToLower(name)
		h.columns[lower] = append(h.columns[lower], i)
	}
	for _, name := range form.required {
		if h.columns[strings.ToLower(name)] == nil {
			return header{}, false
		}
	}
	return h, true
}

// unread names the columns that the format does not read, each once.
func (h header) unread() (names []string) {
	known := map[string]bool{"": true}
	for _, name := range h.form.required {
		known[strings.ToLower(name)] = true
	}
	for _, name := range h.form.read {
		known[name] = true
	}
	for _, name := range h.form.names.texts {
		known[strings.ToLower(name)] = true
	}
next:
	for _, name := range h.names {
		lower := strings.ToLower(name)
		if known[lower] {
			continue
		}
		known[lower] = true
		for _, prefix := range h.form.prefixes {
			if strings.HasPrefix(lower, prefix) {
				continue next
			}
		}
		names = append(names, name)
	}
	return names
}
