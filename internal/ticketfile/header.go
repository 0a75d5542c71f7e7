package ticketfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxColumns bounds the header; an export repeats Comment as often as its busiest ticket has comments.
const maxColumns = 100_000

type header struct {
	line    int // where it stands
	comma   byte
	width   int              // the number of columns
	columns map[string][]int // where each of readColumns stands; a name may occur several times
}

var (
	separators      = []byte{',', ';', '\t'}
	readColumns     = append(requiredColumns, jiraNames.project, "Project name", "Project description", jiraNames.status, jiraNames.created, "Description")
	requiredColumns = []string{jiraNames.key, jiraNames.name}
)

// readHeader reads the first line that is not blank. The separator is the one with which the required columns are found.
func readHeader(lines *lineReader) (header, error) {
	var line []byte
	for len(bytes.TrimSpace(line)) == 0 {
		next, err := lines.next()
		if err == io.EOF {
			return header{}, errors.New("the file is empty; a CSV export from Jira starts with a line of column names")
		}
		if err != nil {
			return header{}, err
		}
		line = bytes.TrimSuffix(next, []byte("\r")) // not all space: a tab may be a separator
	}
	for _, comma := range separators {
		if h, ok := parseHeader(line, comma); ok {
			h.line = lines.line
			return h, nil
		}
	}
	return header{}, fmt.Errorf("the first line names no columns %s, which a CSV export from Jira has: %s",
		strings.Join(requiredColumns, " and "), quote(string(line)))
}

func parseHeader(line []byte, comma byte) (header, bool) {
	record := &csvReader{from: bufio.NewReader(bytes.NewReader(line)), comma: comma, max: MaxRow, keep: maxColumns}
	if record.next() != nil || record.count > maxColumns {
		return header{}, false
	}
	h := header{comma: comma, width: record.count, columns: map[string][]int{}}
	for i := range record.count {
		name := strings.TrimSpace(record.field(i))
		for _, known := range readColumns {
			if strings.EqualFold(name, known) {
				h.columns[known] = append(h.columns[known], i)
			}
		}
	}
	for _, name := range requiredColumns {
		if h.columns[name] == nil {
			return header{}, false
		}
	}
	return h, true
}
