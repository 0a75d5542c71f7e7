package export

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"tasklens/internal/audience"
)

// members are those of a JSON object.
type members map[string]gjson.Result

// row is a row of a file, in any form.
type row struct {
	*reader
	*tracker
	place  int                 // as Ticket.Line
	cells  map[string][]string // the values that are not blank, by the folded name of each column that the file has
	others [][3]string         // the columns that no field has: as people see them, folded, and as the file has them
	object gjson.Result        // in JSON
	members
	limit audience.Limit
}

// objectRow returns the members of an object as a row, with the names that people see of those that
// no ticket has.
func (r *reader) objectRow(from *tracker, place int, object gjson.Result, all members, shown func(string) string) *row {
	row := &row{reader: r, tracker: from, place: place, object: object, members: all, cells: map[string][]string{}, limit: audience.Of(true, "", object.Raw)}
	known := from.columns.folded()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		folded := fold(name)
		row.cells[folded] = r.valuesOf(all[name])
		if !known[folded] && !audience.Knows(name) {
			row.others = append(row.others, [3]string{shown(name), folded, name})
		}
		if name != shown(name) && (row.limit.Why == "" || row.limit.Doubt) {
			row.limit = cmp.Or(audience.Of(true, shown(name), all[name].Raw), row.limit)
		}
	}
	return row
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

// ticket returns the row as the file has it: names and dates are read later, in settle.
func (r *row) ticket() (Ticket, error) {
	t := Ticket{Line: r.place}
	for _, f := range fields {
		switch field := f.in(&t).(type) {
		case *string:
			*field = r.value(f.name)
		case *Text:
			*field = r.text(f.name)
		case *[]string:
			*field = r.list(f.name)
		}
	}
	if r.omits("tickets", r.limit) {
		return t, errLeftOut
	}
	err := r.damage()
	if err == nil {
		err = r.finish(r, &t)
	}
	if err != nil {
		return t, t.bad(err)
	}
	if raw := r.object.Raw; raw != "" && (strings.Contains(raw, `\u0000`) && escapedNUL.MatchString(raw) || !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true))) {
		t.warn(`texts have U+FFFD in place of the escapes \u0000 or \ud83d, half of a character`)
	}
	return t, nil
}

var escapedNUL = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\u0000`)

// valuesOf returns the values in a field of an issue: of an object, such as a person, a status or
// an option, its name.
func (r *reader) valuesOf(field gjson.Result) []string {
	values := []string{}
	switch text := field.String(); {
	case field.IsArray():
		for _, item := range field.Array() {
			if !item.IsArray() {
				values = append(values, r.valuesOf(item)...)
			}
		}
	case field.IsObject():
		name := ""
		for _, member := range called {
			name = cmp.Or(name, field.Get(member).String())
		}
		for _, id := range []string{"accountId", "name", "key"} {
			r.people.add(field.Get(id).String(), field.Get("displayName").String())
		}
		if name = cmp.Or(name, text); name != "{}" {
			values = append(values, name)
		}
	case strings.TrimSpace(text) != "": // null has no text
		values = append(values, text)
	}
	return values
}

// valueOf returns the value in a field that has one.
func (r *reader) valueOf(field gjson.Result) string { return strings.Join(r.valuesOf(field), "") }

// comments reads a list of comments in JSON.
func (r *row) comments(list gjson.Result, created, updated string) []Comment {
	comments := []Comment{}
	for _, c := range list.Array() {
		limit := audience.Of(false, "", c.Raw)
		if limit.Why == "" { // of Jira's XML: the group
			limit = audience.Of(false, "grouplevel", c.Get("level").Raw)
		}
		if r.omits("comments", limit) {
			continue
		}
		body := c.Get("body")
		if !c.IsObject() {
			body = c // a text alone
		}
		comments = append(comments, Comment{Key: cmp.Or(c.Get("id").String(), c.Get("key").String()), Author: r.valueOf(c.Get("author")), Body: r.valueOf(body),
			CreatedAt: c.Get(created).String(), UpdatedAt: c.Get(updated).String()})
	}
	return comments
}
