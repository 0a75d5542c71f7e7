package export

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"tasklens/internal/audience"
)

// maxColumns limits the header. An export repeats the column Comment for the ticket with the most
// comments.
const maxColumns = 100_000

// records reads the tickets of a CSV export.
type records struct {
	row
	in     *stream
	csv    *csv.Reader
	before int      // lines before the first row
	header []string // the columns
	folded []string // their folded names; one may repeat
	ids    [][2]int // the places of a person's id and name
}

// maxBefore is the most lines before the header: titles, blank lines, Excel's sep=.
const maxBefore = 50

// commas are the separators, tried in this order.
const commas = ",;\t|^"

// newRecords reads the lines up to the header. It picks the tracker and separator with which the
// required columns are found.
func newRecords(in *stream, reader *reader) (rows, error) {
	r := &records{in: in}
	first, commas := "", commas // the line that looks most like a header
	for r.before < maxBefore {
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
		r.before++
		line = strings.TrimRight(line, "\r\n") // only this: a tab may be a separator
		if named, is := strings.CutPrefix(line, "sep="); is {
			commas += named
		}
		for _, tracker := range trackers {
			for _, comma := range commas {
				if r.readHeader(line, comma, tracker.header) {
					r.row = row{reader: reader, tracker: tracker}
					r.csv = csv.NewReader(in.Reader)
					r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord = comma, -1, true // checked against the header
					r.sortColumns()
					return rows{tracker: tracker, next: r.next}, nil
				}
			}
		}
		if r.before == 1 || len(strings.FieldsFunc(line, isSeparator)) > len(strings.FieldsFunc(first, isSeparator)) {
			first = line
		}
	}
	if strings.TrimSpace(first) == "" {
		return rows{}, errors.New("the file is empty; a CSV export starts with a line of column names")
	}
	var known []string
	for _, t := range trackers {
		if t.header != nil {
			known = append(known, fmt.Sprintf("%s, which one from %s has", listed(t.header, " and "), t.title))
		}
	}
	return rows{}, fmt.Errorf("no line at its beginning names the columns %s, but %s: if these are the columns in another language, set the tracker's to English and export again",
		strings.Replace(strings.Join(known, ", or "), "one", "a CSV export", 1), quote(first))
}

func isSeparator(r rune) bool { return strings.ContainsRune(commas, r) }

// readHeader reports whether the line has the required columns.
func (r *records) readHeader(line string, comma rune, required []string) (is bool) {
	header := csv.NewReader(strings.NewReader(line))
	header.Comma = comma
	var err error
	if r.header, err = header.Read(); err != nil || len(r.header) > maxColumns {
		return false
	}
	r.folded = nil
	has := map[string]bool{}
	for i, name := range r.header {
		r.header[i] = strings.TrimSpace(clean(name))
		r.folded = append(r.folded, fold(name))
		has[fold(name)] = true
	}
	for _, name := range required {
		if !has[fold(name)] {
			return false
		}
	}
	return required != nil
}

// sortColumns finds the columns that no field has, and those with the ids of people: Assignee Id
// beside Assignee.
func (r *records) sortColumns() {
	known, places := r.columns.folded(), map[string][]int{}
	for i, name := range r.folded {
		places[name] = append(places[name], i)
	}
	for _, name := range []string{"assignee", "reporter", "creator", "watchers"} {
		named, ids := places[name], places[name+"id"]
		known[name+"id"] = named != nil
		for i := range min(len(ids), len(named)) {
			r.ids = append(r.ids, [2]int{ids[i], named[i]})
		}
	}
	for i, name := range r.folded {
		if !known[name] && !audience.Knows(r.header[i]) {
			r.others = append(r.others, [3]string{r.header[i], name, ""})
		}
		known[name] = true
	}
}

// next reads the next row that is not blank. A column that repeats has several values.
func (r *records) next() (Ticket, error) {
	record, err := r.nextRecord()
	if err != nil {
		return Ticket{}, err
	}
	for _, person := range r.ids {
		r.people.add(record[person[0]], record[person[1]])
	}
	r.cells, r.limit = map[string][]string{}, audience.Limit{}
	for i, name := range r.folded {
		if r.cells[name] == nil {
			r.cells[name] = []string{}
		}
		if strings.TrimSpace(record[i]) != "" {
			r.cells[name] = append(r.cells[name], record[i])
			if r.limit.Why == "" || r.limit.Doubt {
				r.limit = cmp.Or(audience.Of(true, r.header[i], record[i]), r.limit)
			}
		}
	}
	return r.ticket()
}

func (r *records) nextRecord() (record []string, err error) {
	for strings.Join(record, "") == "" { // spreadsheets leave rows of separators
		r.in.startRow()
		record, err = r.csv.Read()
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			r.place = r.before + wrong.StartLine
			return nil, &RowError{Line: r.place, Reason: "a quote is not doubled within its field, or not closed"}
		}
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("after line %d: %w", r.place, err)
		}
		line, _ := r.csv.FieldPos(0)
		r.place = r.before + line
	}
	if len(record) != len(r.header) {
		// Some field contains an unquoted separator or line break. Which one is unknown, so no field
		// can be trusted.
		return nil, &RowError{Line: r.place, Reason: fmt.Sprintf("the row has %d fields where the header has %d", len(record), len(r.header))}
	}
	if err := CheckText(strings.Join(record, "")); err != nil { // whose names would become others
		return nil, &RowError{Line: r.place, Reason: err.Error()}
	}
	return record, nil
}
