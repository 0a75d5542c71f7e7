package ticketfile

import (
	"slices"
	"strings"
	"unicode"
)

// fields are what one row has, of a file of any format that names its columns.
type fields struct {
	columns fieldNames
	// cells returns the values of a column that are not blank, nil if the file lacks it.
	cells func(column string) []string
}

// list returns what a row has of a member, nil if the file has none of its columns.
func (f fields) list(member string) (values []string) {
	for _, column := range f.columns[member] {
		if cells := f.cells(column); cells != nil {
			values = append(append([]string{}, values...), cells...)
		}
	}
	return values
}

// text returns the first value of a member.
func (f fields) text(member string) Text {
	values := f.list(member)
	if len(values) == 0 {
		return Text{Given: values != nil}
	}
	return given(values[0])
}

func (f fields) value(member string) string { return f.text(member).Value }

func (f fields) ticket(line int) Ticket {
	t := Ticket{
		Line:        line,
		Key:         f.value("key"),
		ProjectKey:  f.value("project_key"),
		Name:        f.value("name"),
		Status:      f.value("status"),
		Category:    f.value("status_category"),
		CreatedAt:   f.value("created_at"),
		UpdatedAt:   f.value("updated_at"),
		Description: f.text("description"),
		DueDate:     f.text("due_date"),
		ResolvedAt:  f.text("resolved_at"),
		Labels:      f.list("labels"),
	}
	for member, field := range t.lines() {
		*field = f.text(member)
	}
	return t
}

// Kept names the columns that no field has and that are kept: as labels, or as lines at the end of
// the description.
type Kept struct{ Labels, Text []string }

// DefaultText are the columns kept as text unless others are named.
const DefaultText = "Resolution,Fix versions,Affects versions,Environment"

// columnName makes one name of a column's: Fix versions, Fix Version/s, fixVersions.
func columnName(name string) string {
	name = strings.TrimPrefix(strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)), "customfield")
	if name == "versions" { // in Jira's JSON
		return "affectsversions"
	}
	return name
}

// keep stores or counts what the row has in a column that is none of the format's.
func (r *Reader) keep(t *Ticket, column string, values []string) {
	if len(values) == 0 {
		return
	}
	name, shown := columnName(column), column
	if inner, is := strings.CutPrefix(column, "Custom field ("); is {
		shown = strings.TrimSuffix(inner, ")")
	}
	is := func(other string) bool { return other != "" && columnName(other) == name }
	switch {
	case slices.ContainsFunc(r.kept.Labels, is):
		for _, value := range values {
			t.Labels = append(t.Labels, shown+": "+value)
		}
	case slices.ContainsFunc(r.kept.Text, is):
		line := shown + ": " + r.jiraText(strings.Join(values, ", "))
		if t.Description.Value != "" && !t.keeps {
			line = "\n" + line
		}
		t.keeps = true
		t.Description = given(strings.TrimPrefix(t.Description.Value+"\n"+line, "\n"))
	default:
		r.unread[column]++
	}
}
