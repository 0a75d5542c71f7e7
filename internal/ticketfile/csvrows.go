package ticketfile

import (
	"bufio"
	"encoding/csv"
	"errors"
	"strings"
)

// csvRows reads the tickets of a CSV export.
type csvRows struct {
	name string // of the file, for RowErrors
	csv  *csvReader
	header
	linkColumns []linkColumn
	notices     *notices
	seen        map[string]bool // the projects that nextProject has returned
}

// newCSVRows reads the header.
func newCSVRows(name string, from *bufio.Reader, n *notices) (*csvRows, error) {
	head, err := readHeader(&lineReader{from: from, max: MaxRow})
	if err != nil {
		return nil, err
	}
	n.columns = head.unread()
	return &csvRows{
		name:        name,
		csv:         newCSVReader(from, head.comma, head.line),
		header:      head,
		linkColumns: jiraLinkColumns(head.names),
		notices:     n,
		seen:        map[string]bool{},
	}, nil
}

// nextTicket returns the next ticket, a *RowError, io.EOF, or an error of the stream.
func (r *csvRows) nextTicket() (Ticket, error) {
	at, err := r.nextRow()
	if err != nil {
		return Ticket{}, err
	}
	raw, err := r.form.ticket(r, at)
	if err != nil {
		return Ticket{}, at.wrong("%v", err)
	}
	ticket, err := checkTicket(raw, r.form.names, at)
	if err != nil {
		return Ticket{}, at.wrong("%v", err)
	}
	return ticket, nil
}

// nextProject returns the next project that was not returned before, io.EOF, or an error of the
// stream.
func (r *csvRows) nextProject() (Project, error) {
	ticket, err := nextNew(r.nextTicket, r.seen)
	if err != nil {
		return Project{}, err
	}
	return r.form.project(r, ticket), nil
}

// nextNew returns the next valid ticket of a new project. The pass over tickets reports bad rows.
func nextNew(next func() (Ticket, error), seen map[string]bool) (Ticket, error) {
	for {
		ticket, err := next()
		var bad *RowError
		if errors.As(err, &bad) {
			continue
		}
		if err != nil {
			return Ticket{}, err
		}
		if !seen[ticket.ProjectKey] {
			seen[ticket.ProjectKey] = true
			return ticket, nil
		}
	}
}

// nextRow advances to the next row that has as many fields as the header.
func (r *csvRows) nextRow() (place, error) {
	err := r.csv.next()
	at := place{r.name, r.csv.line}
	var wrong *csv.ParseError
	switch {
	case errors.As(err, &wrong):
		return at, at.wrong("a quote is not doubled within its field, or not closed")
	case err != nil:
		return at, err
	case len(r.csv.fields) != r.width:
		// Some field contains an unquoted separator or line break. Which one is unknown, so no field
		// can be trusted.
		return at, at.wrong("the row has %d fields where the header has %d", len(r.csv.fields), r.width)
	}
	return at, nil
}

// value returns the first non-empty field of a column. An export repeats a column that has several
// values.
func (r *csvRows) value(column string) string {
	for _, i := range r.columns[strings.ToLower(column)] {
		if s := r.csv.fields[i]; s != "" {
			return s
		}
	}
	return ""
}

// given returns the first non-empty field of the columns, "" if all are empty, nil if the file has
// none of the columns.
func (r *csvRows) given(columns ...string) *string {
	var found *string
	for _, column := range columns {
		for _, i := range r.columns[strings.ToLower(column)] {
			s := r.csv.fields[i]
			if strings.TrimSpace(s) != "" {
				return &s
			}
			empty := ""
			found = &empty
		}
	}
	return found
}

// all returns the non-empty fields of the columns, nil if the file has none of the columns.
func (r *csvRows) all(columns ...string) (values []string) {
	for _, column := range columns {
		for _, i := range r.columns[strings.ToLower(column)] {
			if values == nil {
				values = []string{}
			}
			if s := r.csv.fields[i]; strings.TrimSpace(s) != "" {
				values = append(values, s)
			}
		}
	}
	return values
}
