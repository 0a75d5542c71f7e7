package ticketfile

import (
	"bufio"
	"errors"
	"strings"
)

// csvForm is what one tracker's CSV exports look like.
type csvForm struct {
	fieldNames
	required []string
	columns  []string // all that are read, but for those of links
	// linkColumn tells whether a column holds keys of other tickets, and in which way they are linked.
	linkColumn func(name string) (linkColumn, bool)
	ticket     func(*csvRows) (rawTicket, error)
	project    func(*csvRows) (name, description string)
}

// linkColumn is a column of keys.
type linkColumn struct {
	field  int
	kind   string
	inward bool // the other ticket is the one that the link starts from
}

// csvRows reads the tickets of a CSV export.
type csvRows struct {
	name string // the file's, for RowErrors
	csv  *csvReader
	header
	seen map[string]bool // the projects that nextProject has returned
}

// newCSVRows reads the header.
func newCSVRows(name string, from *bufio.Reader) (*csvRows, error) {
	head, err := readHeader(&lineReader{from: from, max: MaxRow})
	if err != nil {
		return nil, err
	}
	return &csvRows{
		name:   name,
		csv:    &csvReader{from: from, comma: head.comma, max: MaxRow, keep: head.width, line: head.line},
		header: head,
		seen:   map[string]bool{},
	}, nil
}

// nextTicket returns the next ticket, a *RowError, io.EOF, or an error of the stream.
func (r *csvRows) nextTicket() (Ticket, error) {
	at, err := r.nextRow()
	if err != nil {
		return Ticket{}, err
	}
	ticket, err := r.ticket(at)
	if err != nil {
		return Ticket{}, at.wrong("%v", err)
	}
	return ticket, nil
}

// nextProject returns the next project not returned before, io.EOF, or an error of the stream.
func (r *csvRows) nextProject() (Project, error) {
	for {
		ticket, err := r.nextTicket()
		var bad *RowError
		if errors.As(err, &bad) {
			continue
		}
		if err != nil {
			return Project{}, err
		}
		if key := ticket.ProjectKey; !r.seen[key] {
			r.seen[key] = true
			name, description := r.form.project(r)
			if name = strings.TrimSpace(clean(name)); name == "" {
				name = key
			}
			return Project{Key: key, Name: name, Description: clean(description)}, nil
		}
	}
}

// nextRow moves to the next row that is not blank and has as many fields as the header.
func (r *csvRows) nextRow() (place, error) {
	for {
		err := r.csv.next()
		at := place{r.name, r.csv.start}
		var quotes quoteError
		switch {
		case err == errTooLong || errors.As(err, &quotes):
			return at, at.wrong("%v", err)
		case err != nil:
			return at, err
		case r.csv.blank():
			continue
		case r.csv.count != r.width:
			// Some field holds an unquoted separator or line end: nobody can tell which, so no field can be trusted.
			return at, at.wrong("the row has %d fields where the header has %d", r.csv.count, r.width)
		}
		return at, nil
	}
}

func (r *csvRows) ticket(at place) (Ticket, error) {
	raw, err := r.form.ticket(r)
	if err != nil {
		return Ticket{}, err
	}
	if r.links != nil {
		raw.links = append([]Link{}, raw.links...)
	}
	for _, column := range r.links {
		for to := range strings.FieldsFuncSeq(r.csv.field(column.field), func(c rune) bool { return c == ',' || c == ' ' }) {
			link := Link{From: raw.key, Kind: column.kind, To: to}
			if column.inward {
				link.From, link.To = link.To, link.From
			}
			raw.links = append(raw.links, link)
		}
	}
	return checkTicket(raw, r.form.fieldNames, at)
}

// value returns the first non-empty field of a column: an export repeats a column that has several values.
func (r *csvRows) value(column string) string {
	for _, i := range r.columns[column] {
		if s := r.csv.field(i); s != "" {
			return s
		}
	}
	return ""
}

// optional returns the value of a column, nil where the export does not have it.
func (r *csvRows) optional(column string) *string {
	if r.columns[column] == nil {
		return nil
	}
	value := r.value(column)
	return &value
}

// values returns all non-empty fields of some columns, nil where the export has none of these.
func (r *csvRows) values(columns ...string) []string {
	var values []string
	for _, column := range columns {
		for _, i := range r.columns[column] {
			if values == nil {
				values = []string{}
			}
			if s := r.csv.field(i); s != "" {
				values = append(values, s)
			}
		}
	}
	return values
}
