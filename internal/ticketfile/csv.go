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
	header  []string         // the columns
	places  map[string][]int // of each column, by its name in lower case; a name may repeat
	before  int              // lines before the first row
	in      *stream
	csv     *csv.Reader
	line    int // on which the last row starts
	row     []string
	notices notices
}

// newCSVRows reads the first non-blank line. It picks the format and separator with which the
// required columns are found.
func newCSVRows(in *stream, n notices) (rows, error) {
	r := &csvRows{in: in, notices: n}
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
				r.noticeUnread()
				return rows{r.name, r.columns, r.next}, nil
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

// noticeUnread names the columns that the format does not read, each once.
func (r *csvRows) noticeUnread() {
	const most = 40
	known := map[string]bool{"": true}
	for _, names := range r.columns {
		for _, name := range names {
			known[strings.ToLower(name)] = true
		}
	}
	var unread []string
	for _, name := range r.header {
		if lower := strings.ToLower(name); !known[lower] && !linkColumn.MatchString(name) {
			known[lower] = true
			unread = append(unread, strings.Trim(quote(name), `"`))
		}
	}
	if len(unread) > most {
		unread = append(unread[:most], fmt.Sprintf("and %d more", len(unread)-most))
	}
	if len(unread) > 0 {
		r.notices["columns left out: "+strings.Join(unread, ", ")] = 0
	}
}

func (r *csvRows) next() (Ticket, error) {
	if err := r.nextRow(); err != nil {
		return Ticket{}, err
	}
	t := Ticket{
		Line:        r.line,
		Key:         r.value("key"),
		ProjectKey:  r.value("project_key"),
		Name:        r.value("name"),
		Status:      r.value("status"),
		Category:    r.value("status_category"),
		CreatedAt:   r.value("created_at"),
		UpdatedAt:   r.value("updated_at"),
		Description: r.text("description"),
		DueDate:     r.text("due_date"),
		ResolvedAt:  r.text("resolved_at"),
		Labels:      r.list("labels"),
	}
	for member, field := range t.lines() {
		*field = r.text(member)
	}
	if err := r.finish(r, &t); err != nil {
		return t, &RowError{Line: r.line, Reason: err.Error()}
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

// list returns what a row has of a member, nil if the file has none of its columns. An export
// repeats a column that has several values.
func (r *csvRows) list(member string) (values []string) {
	for _, column := range r.columns[member] {
		for _, i := range r.places[strings.ToLower(column)] {
			if values == nil {
				values = []string{}
			}
			if strings.TrimSpace(r.row[i]) != "" {
				values = append(values, r.row[i])
			}
		}
	}
	return values
}

// text returns the first value of a member.
func (r *csvRows) text(member string) Text {
	values := r.list(member)
	if len(values) == 0 {
		return Text{Given: values != nil}
	}
	return given(values[0])
}

func (r *csvRows) value(member string) string { return r.text(member).Value }

// projectOf returns what stands before the number in a ticket's key.
func projectOf(key string) (project string, is bool) {
	if dash := strings.LastIndexByte(key, '-'); dash >= 0 {
		return key[:dash], true
	}
	return "", false
}
