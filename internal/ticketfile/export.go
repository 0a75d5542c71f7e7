package ticketfile

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// columns are the names of a ticket's members in a format, compared by fold; a member that it lacks
// has its own. Where a member has several names, the first with a value counts.
type columns map[string][]string

func (c columns) of(member string) string {
	if names := c[member]; len(names) > 0 {
		return names[0]
	}
	return member
}

// fold makes one name of the spellings of a column's: Fix Version/s, fixVersions.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// folded returns the names of all columns.
func (c columns) folded() map[string]bool {
	all := map[string]bool{"": true}
	for _, names := range c {
		for _, name := range names {
			all[fold(name)] = true
		}
	}
	return all
}

// export is what the exports of one tracker have in common.
type export struct {
	name    string
	columns columns // of the members of a ticket, and of what else finish reads
	// finish reads what the tracker writes in its own way.
	finish func(*row, *Ticket) error
}

// row is a row of an export, in any form.
type row struct {
	*Reader
	*export
	place int // as Ticket.Line
	// cells returns the values of a column that are not blank, nil if the file lacks it.
	cells func(column string) []string
	// others are the columns that no member has, by the names that people see.
	others  iter.Seq2[string, []string]
	object  gjson.Result // in JSON
	members map[string]gjson.Result
}

// list returns what a row has of a member, nil if the file has none of its columns.
func (r *row) list(member string) (values []string) {
	names := r.columns[member]
	if names == nil {
		names = []string{member}
	}
	for _, column := range names {
		if cells := r.cells(column); cells != nil {
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
	t := Ticket{
		Line:        r.place,
		Key:         r.value("key"),
		ProjectKey:  r.value("project_key"),
		Name:        r.value("name"),
		Status:      r.value("status"),
		Category:    r.value("status_category"),
		CreatedAt:   r.value("created_at"),
		UpdatedAt:   r.value("updated_at"),
		Description: r.value("description"),
		DueDate:     r.text("due_date"),
		ResolvedAt:  r.text("resolved_at"),
		Labels:      r.list("labels"),
	}
	for member, field := range t.lines() {
		*field = r.text(member)
	}
	who := r.restricted(r.object)
	if level := oneLine(r.value("security")); !forAll(level) {
		who = "that only " + strings.Trim(quote(level), `"`) + " may see"
	}
	if r.omits("tickets", who) {
		return t, errLeftOut
	}
	if err := r.finish(r, &t); err != nil {
		return t, &RowError{Line: r.place, Key: t.Key, Reason: err.Error()}
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

// keep stores or counts what the row has in a column that no member has.
func (r *row) keep(t *Ticket, column string, values []string) {
	if len(values) == 0 {
		return
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
		r.unread[column]++
	}
}
