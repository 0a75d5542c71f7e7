package ticketfile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// format is how a tracker writes tickets.
type format struct {
	name    string
	columns columns                 // of the members of a ticket, and of what else finish reads
	header  []string                // the columns of a CSV file that show it, which are required
	shows   func(gjson.Result) bool // whether a JSON file with this first object is of it
	finish  func(*row, *Ticket) error
}

// formats are those of exports, which a file's beginning shows.
var formats = []*format{&jira, &linear, &github}

// fold makes one name of the spellings of a column's: Fix Version/s, fixVersions.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// row is a row of a file, in any form.
type row struct {
	*Reader
	*format
	place   int                     // as Ticket.Line
	cells   map[string][]string     // the values that are not blank, by the folded name of each column that the file has
	others  [][2]string             // the columns that no member has: as people see them, and folded
	object  gjson.Result            // in JSON
	members map[string]gjson.Result // of the JSON object
	limit   audience.Limit
}

// list returns what a row has of a member, nil if the file has none of its columns.
func (r *row) list(member string) (values []string) {
	for _, column := range r.columns[member] {
		if cells, has := r.cells[fold(column)]; has {
			values = append(append([]string{}, values...), cells...)
		}
	}
	return values
}

// text returns the first value of a member.
func (r *row) text(member string) Text {
	values := r.list(member)
	if len(values) == 0 {
		return Text{Given: values != nil}
	}
	return given(values[0])
}

func (r *row) value(member string) string { return r.text(member).Value }

func (r *row) ticket() (Ticket, error) {
	t := Ticket{Line: r.place}
	for _, m := range members {
		switch field := m.in(&t).(type) {
		case *string:
			*field = r.value(m.name)
		case *Text:
			*field = r.text(m.name)
		case *[]string:
			*field = r.list(m.name)
		}
	}
	if r.omits("tickets", r.limit) {
		return t, errLeftOut
	}
	if err := r.finish(r, &t); err != nil {
		return t, t.bad(err)
	}
	if raw := r.object.Raw; raw != "" && (escapedNUL.MatchString(raw) || !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true))) {
		t.warn(`texts have U+FFFD in place of the escapes \u0000 or \ud83d, half of a character`)
	}
	return t, nil
}

var escapedNUL = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\u0000`)

// Kept names the columns that no member has and that are kept: as labels, or as lines at the end of
// the description.
type Kept struct{ Labels, Text []string }

// DefaultText are the columns kept as text unless others are named.
const DefaultText = "Resolution,Fix versions,Affects versions,Environment"

// keepOthers stores or counts what the row has in columns that no member has, but for those that
// the format takes.
func (r *row) keepOthers(t *Ticket, takes func(column string, values []string) bool) {
	for _, other := range r.others {
		column, values := other[0], r.cells[other[1]]
		if takes != nil && takes(column, values) || len(values) == 0 {
			continue
		}
		shown := column
		if inner, is := strings.CutPrefix(column, "Custom field ("); is {
			shown = strings.TrimSuffix(inner, ")")
		}
		is := func(name string) bool { return name != "" && (fold(name) == fold(shown) || fold(name) == fold(column)) }
		switch {
		case slices.ContainsFunc(r.kept.Labels, is):
			for _, value := range values {
				t.Labels = append(t.Labels, shown+": "+value)
			}
		case slices.ContainsFunc(r.kept.Text, is):
			t.addLine(shown + ": " + r.jiraText(strings.Join(values, ", ")))
		default:
			r.unread[strings.Trim(quote(column), `"`)]++
		}
	}
}
