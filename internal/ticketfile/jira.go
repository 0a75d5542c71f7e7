package ticketfile

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

var jiraNames = fieldNames{key: "Issue key", project: "Project key", name: "Summary", status: "Status", created: "Created"}

// jiraRows reads the tickets of a CSV export.
type jiraRows struct {
	name string // the file's, for RowErrors
	csv  *csvReader
	header
	seen map[string]bool // the projects that nextProject has returned
}

// newJiraRows reads the header.
func newJiraRows(name string, from *bufio.Reader) (*jiraRows, error) {
	head, err := readHeader(&lineReader{from: from, max: MaxRow})
	if err != nil {
		return nil, err
	}
	return &jiraRows{
		name:   name,
		csv:    &csvReader{from: from, comma: head.comma, max: MaxRow, keep: head.width, line: head.line},
		header: head,
		seen:   map[string]bool{},
	}, nil
}

// nextTicket returns the next ticket, a *RowError, io.EOF, or an error of the stream.
func (j *jiraRows) nextTicket() (Ticket, error) {
	at, err := j.nextRow()
	if err != nil {
		return Ticket{}, err
	}
	ticket, err := j.ticket(at)
	if err != nil {
		return Ticket{}, at.wrong("%v", err)
	}
	return ticket, nil
}

// nextProject returns the next project not returned before, io.EOF, or an error of the stream.
func (j *jiraRows) nextProject() (Project, error) {
	for {
		ticket, err := j.nextTicket()
		var bad *RowError
		if errors.As(err, &bad) {
			continue
		}
		if err != nil {
			return Project{}, err
		}
		if key := ticket.ProjectKey; !j.seen[key] {
			j.seen[key] = true
			name := strings.TrimSpace(clean(j.value("Project name")))
			if name == "" {
				name = key
			}
			return Project{Key: key, Name: name, Description: clean(j.value("Project description"))}, nil
		}
	}
}

// nextRow moves to the next row that is not blank and has as many fields as the header.
func (j *jiraRows) nextRow() (place, error) {
	for {
		err := j.csv.next()
		at := place{j.name, j.csv.start}
		var quotes quoteError
		switch {
		case err == errTooLong || errors.As(err, &quotes):
			return at, at.wrong("%v", err)
		case err != nil:
			return at, err
		case j.csv.blank():
			continue
		case j.csv.count != j.width:
			// Some field holds an unquoted separator or line end: nobody can tell which, so no field can be trusted.
			return at, at.wrong("the row has %d fields where the header has %d", j.csv.count, j.width)
		}
		return at, nil
	}
}

func (j *jiraRows) ticket(at place) (Ticket, error) {
	raw := rawTicket{
		key:         j.value(jiraNames.key),
		project:     j.value(jiraNames.project),
		name:        j.value(jiraNames.name),
		description: j.value("Description"),
		status:      j.value(jiraNames.status),
		created:     j.value(jiraNames.created),
	}
	if strings.TrimSpace(raw.project) == "" && strings.TrimSpace(raw.key) != "" {
		dash := strings.LastIndexByte(raw.key, '-')
		if dash < 0 {
			return Ticket{}, fmt.Errorf("Project key is missing, and Issue key %s does not hold it", quote(raw.key))
		}
		raw.project = raw.key[:dash]
	}
	return checkTicket(raw, jiraNames, at)
}

// value returns the first non-empty field of a column: an export repeats a column that has several values.
func (j *jiraRows) value(column string) string {
	for _, i := range j.columns[column] {
		if s := j.csv.field(i); s != "" {
			return s
		}
	}
	return ""
}
