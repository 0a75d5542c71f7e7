package ticketfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxColumns limits the header. An export repeats the column Comment for the ticket with the most
// comments.
const maxColumns = 100_000

// csvFormat describes the CSV exports of one tracker.
type csvFormat struct {
	name     string
	required []string   // columns
	columns  fieldNames // of the members of a ticket, and of what else finish reads
	finish   func(*csvRows, *Ticket) error
}

var csvFormats = []csvFormat{jira, linear}

// csvRows reads the tickets of a CSV export.
type csvRows struct {
	csvFormat
	fields
	header []string         // the columns
	places map[string][]int // of each column, by its name in lower case; a name may repeat
	before int              // lines before the first row
	in     *stream
	csv    *csv.Reader
	line   int // on which the last row starts
	row    []string
	reader *Reader
	unread []string // columns that are none of the format's
	people [][2]int // the places of an id and a name
}

// newCSVRows reads the first non-blank line. It picks the format and separator with which the
// required columns are found.
func newCSVRows(in *stream, reader *Reader) (rows, error) {
	r := &csvRows{in: in, reader: reader}
	line := ""
	for strings.TrimSpace(line) == "" {
		var err error
		line, err = in.ReadString('\n')
		if err == io.EOF && line == "" {
			return rows{}, errors.New("the file is empty; a CSV export starts with a line of column names")
		}
		if err != nil && err != io.EOF {
			return rows{}, err
		}
		r.before++
	}
	line = strings.TrimRight(line, "\r\n") // only this: a tab may be a separator
	for _, r.csvFormat = range csvFormats {
		for _, comma := range []rune{',', ';', '\t'} {
			if r.readHeader(line, comma) {
				r.csv = csv.NewReader(in.Reader)
				r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord = comma, -1, true // checked against the header
				r.fields = fields{r.csvFormat.columns, r.cells}
				r.sortColumns()
				return rows{r.name, r.csvFormat.columns, r.next}, nil
			}
		}
	}
	return rows{}, fmt.Errorf("the first line names neither the columns %s, which a CSV export from Jira has, nor %s, which one from Linear has: %s",
		strings.Join(jira.required, " and "), strings.Join(linear.required, ", "), quote(line))
}

// readHeader reports whether the line has the required columns.
func (r *csvRows) readHeader(line string, comma rune) bool {
	header := csv.NewReader(strings.NewReader(line))
	header.Comma = comma
	var err error
	if r.header, err = header.Read(); err != nil || len(r.header) > maxColumns {
		return false
	}
	r.places = map[string][]int{}
	for i, name := range r.header {
		r.header[i] = strings.TrimSpace(clean(name))
		lower := strings.ToLower(r.header[i])
		r.places[lower] = append(r.places[lower], i)
	}
	for _, name := range r.required {
		if r.places[strings.ToLower(name)] == nil {
			return false
		}
	}
	return true
}

// sortColumns finds the columns that the format does not read, and those with the ids of people:
// Assignee Id beside Assignee.
func (r *csvRows) sortColumns() {
	known := map[string]bool{"": true}
	for _, names := range r.csvFormat.columns {
		for _, name := range names {
			known[strings.ToLower(name)] = true
		}
	}
	for _, name := range []string{"assignee", "reporter", "creator", "watchers"} {
		named, ids := r.places[name], r.places[name+" id"]
		known[name+" id"] = named != nil
		for i := range min(len(ids), len(named)) {
			r.people = append(r.people, [2]int{ids[i], named[i]})
		}
	}
	for _, name := range r.header {
		if lower := strings.ToLower(name); !known[lower] && !linkColumn.MatchString(name) {
			known[lower] = true
			r.unread = append(r.unread, name)
		}
	}
}

func (r *csvRows) next() (Ticket, error) {
	if err := r.nextRow(); err != nil {
		return Ticket{}, err
	}
	for _, person := range r.people {
		r.reader.people.add(r.row[person[0]], r.row[person[1]])
	}
	t := r.ticket(r.line)
	if err := r.finish(r, &t); err != nil {
		return t, &RowError{Line: r.line, Reason: err.Error()}
	}
	for _, column := range r.unread {
		r.reader.keep(&t, column, r.cells(column))
	}
	return t, nil
}

// nextRow advances to the next row that is not blank.
func (r *csvRows) nextRow() (err error) {
	for blank := true; blank; blank = strings.Join(r.row, "") == "" { // spreadsheets leave rows of separators
		r.in.startRow()
		r.row, err = r.csv.Read()
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			r.line = r.before + wrong.StartLine
			return &RowError{Line: r.line, Reason: "a quote is not doubled within its field, or not closed"}
		}
		if err == io.EOF {
			return err
		}
		if err != nil {
			return fmt.Errorf("after line %d: %w", r.line, err)
		}
		line, _ := r.csv.FieldPos(0)
		r.line = r.before + line
	}
	if len(r.row) != len(r.header) {
		// Some field contains an unquoted separator or line break. Which one is unknown, so no field
		// can be trusted.
		return &RowError{Line: r.line, Reason: fmt.Sprintf("the row has %d fields where the header has %d", len(r.row), len(r.header))}
	}
	return nil
}

// cells returns what the row has in a column. An export repeats one that has several values.
func (r *csvRows) cells(column string) (values []string) {
	places := r.places[strings.ToLower(column)]
	if places != nil {
		values = []string{}
	}
	for _, i := range places {
		if strings.TrimSpace(r.row[i]) != "" {
			values = append(values, r.row[i])
		}
	}
	return values
}

// projectOf returns what stands before the number in a ticket's key.
func projectOf(key string) (project string, is bool) {
	if dash := strings.LastIndexByte(key, '-'); dash >= 0 {
		return key[:dash], true
	}
	return "", false
}
