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

// csvExports are recognised by these columns, which are required.
var csvExports = []struct {
	*export
	required []string
}{{&jira, []string{"Issue key", "Summary"}}, {&linear, []string{"ID", "Team", "Title"}}}

// csvRows reads the tickets of a CSV export.
type csvRows struct {
	row
	in     *stream
	csv    *csv.Reader
	before int              // lines before the first row
	header []string         // the columns
	places map[string][]int // of each column, by its folded name; a name may repeat
	record []string         // the fields of the row
	unread [][]int          // the places of each column that no member has
	ids    [][2]int         // the places of a person's id and name
}

// maxBefore is the most lines before the header: titles, blank lines, Excel's sep=.
const maxBefore = 50

// commas are the separators, tried in this order.
const commas = ",;\t|^"

// newCSVRows reads the lines up to the header. It picks the export and separator with which the
// required columns are found.
func newCSVRows(in *stream, reader *Reader) (rows, error) {
	r := &csvRows{in: in}
	first, commas := "", commas // the line that looks most like a header
	for ; r.before < maxBefore; r.before++ {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil && err != io.EOF {
			return rows{}, err
		}
		if err := CheckText(line); err != nil {
			return rows{}, err
		}
		line = strings.TrimRight(line, "\r\n") // only this: a tab may be a separator
		if named, is := strings.CutPrefix(line, "sep="); is {
			commas += named
		}
		for _, e := range csvExports {
			for _, comma := range commas {
				if r.readHeader(line, comma, e.required) {
					r.before++
					r.csv = csv.NewReader(in.Reader)
					r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord = comma, -1, true // checked against the header
					r.row = row{Reader: reader, export: e.export, cells: r.cellsOf, others: r.unreadCells}
					r.sortColumns()
					return rows{r.name, r.columns, r.next}, nil
				}
			}
		}
		if r.before == 0 || len(strings.FieldsFunc(line, isSeparator)) > len(strings.FieldsFunc(first, isSeparator)) {
			first = line
		}
	}
	if strings.TrimSpace(first) == "" {
		return rows{}, errors.New("the file is empty; a CSV export starts with a line of column names")
	}
	return rows{}, fmt.Errorf("no line at its beginning names the columns Issue key and Summary, which a CSV export from Jira has, "+
		"or ID, Team and Title, which one from Linear has, but %s: if these are the columns in another language, set the tracker's to English and export again", quote(first))
}

func isSeparator(r rune) bool { return strings.ContainsRune(commas, r) }

// readHeader reports whether the line has the required columns.
func (r *csvRows) readHeader(line string, comma rune, required []string) bool {
	header := csv.NewReader(strings.NewReader(line))
	header.Comma = comma
	var err error
	if r.header, err = header.Read(); err != nil || len(r.header) > maxColumns {
		return false
	}
	r.places = map[string][]int{}
	for i, name := range r.header {
		r.header[i] = strings.TrimSpace(clean(name))
		r.places[fold(name)] = append(r.places[fold(name)], i)
	}
	for _, name := range required {
		if r.places[fold(name)] == nil {
			return false
		}
	}
	return true
}

// sortColumns finds the columns that no member has, and those with the ids of people: Assignee Id
// beside Assignee.
func (r *csvRows) sortColumns() {
	known := r.columns.folded()
	for _, name := range []string{"assignee", "reporter", "creator", "watchers"} {
		named, ids := r.places[name], r.places[name+"id"]
		known[name+"id"] = named != nil
		for i := range min(len(ids), len(named)) {
			r.ids = append(r.ids, [2]int{ids[i], named[i]})
		}
	}
	for _, name := range r.header {
		if !known[fold(name)] {
			known[fold(name)] = true
			r.unread = append(r.unread, r.places[fold(name)])
		}
	}
}

func (r *csvRows) next() (Ticket, error) {
	if err := r.nextRecord(); err != nil {
		return Ticket{}, err
	}
	for _, person := range r.ids {
		r.people.add(r.record[person[0]], r.record[person[1]])
	}
	return r.ticket()
}

// nextRecord advances to the next row that is not blank.
func (r *csvRows) nextRecord() (err error) {
	for blank := true; blank; blank = strings.Join(r.record, "") == "" { // spreadsheets leave rows of separators
		r.in.startRow()
		r.record, err = r.csv.Read()
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			r.place = r.before + wrong.StartLine
			return &RowError{Line: r.place, Reason: "a quote is not doubled within its field, or not closed"}
		}
		if err == io.EOF {
			return err
		}
		if err != nil {
			return fmt.Errorf("after line %d: %w", r.place, err)
		}
		line, _ := r.csv.FieldPos(0)
		r.place = r.before + line
	}
	if len(r.record) != len(r.header) {
		// Some field contains an unquoted separator or line break. Which one is unknown, so no field
		// can be trusted.
		return &RowError{Line: r.place, Reason: fmt.Sprintf("the row has %d fields where the header has %d", len(r.record), len(r.header))}
	}
	if err := CheckText(strings.Join(r.record, "")); err != nil { // whose names would become others
		return &RowError{Line: r.place, Reason: err.Error()}
	}
	return nil
}

// cellsOf returns what the row has in a column. An export repeats one that has several values.
func (r *csvRows) cellsOf(column string) []string { return r.cellsAt(r.places[fold(column)]) }

func (r *csvRows) cellsAt(places []int) (values []string) {
	if places != nil {
		values = []string{}
	}
	for _, i := range places {
		if strings.TrimSpace(r.record[i]) != "" {
			values = append(values, r.record[i])
		}
	}
	return values
}

func (r *csvRows) unreadCells(yield func(column string, values []string) bool) {
	for _, places := range r.unread {
		if !yield(r.header[places[0]], r.cellsAt(places)) {
			return
		}
	}
}
