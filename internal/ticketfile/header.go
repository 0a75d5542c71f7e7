package ticketfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxColumns bounds the header; an export repeats Comment as often as its busiest ticket has comments.
const maxColumns = 100_000

type header struct {
	form    *csvForm
	line    int // where it stands
	comma   byte
	width   int              // the number of columns
	columns map[string][]int // where each of the form's columns stands; a name may occur several times
	links   []linkColumn
	unread  []string // the names of all other columns, each once
}

var separators = []byte{',', ';', '\t'}

// readHeader reads the first line that is not blank. The form and the separator are those with which the required columns
// are found.
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
		line = bytes.TrimSuffix(next, []byte("\r")) // not all space: a tab may be a separator
	}
	for _, form := range []*csvForm{&jira, &linear} {
		for _, comma := range separators {
			if h, ok := parseHeader(line, comma, form); ok {
				h.line = lines.line
				return h, nil
			}
		}
	}
	return header{}, fmt.Errorf("the first line names no columns %s, which a CSV export from Jira has, nor %s, which one from Linear has: %s",
		strings.Join(jira.required, " and "), strings.Join(linear.required, ", "), quote(string(line)))
}

func parseHeader(line []byte, comma byte, form *csvForm) (header, bool) {
	record := &csvReader{from: bufio.NewReader(bytes.NewReader(line)), comma: comma, max: MaxRow, keep: maxColumns}
	if record.next() != nil || record.count > maxColumns {
		return header{}, false
	}
	h := header{form: form, comma: comma, width: record.count, columns: map[string][]int{}}
	unread := map[string]bool{}
	for i := range record.count {
		name := strings.TrimSpace(record.field(i))
		known := slices.IndexFunc(form.columns, func(column string) bool { return strings.EqualFold(name, column) })
		link, isLink := form.linkColumn(name)
		switch {
		case known >= 0:
			h.columns[form.columns[known]] = append(h.columns[form.columns[known]], i)
		case isLink:
			link.field = i
			h.links = append(h.links, link)
		case name != "" && !unread[name]:
			unread[name] = true
			h.unread = append(h.unread, clean(name))
		}
	}
	for _, name := range form.required {
		if h.columns[name] == nil {
			return header{}, false
		}
	}
	return h, true
}
