package answer

import (
	"reflect"
	"strings"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/search"
)

// linkedName is the maximum length in characters of a linked ticket's name.
const linkedName = 60

// relations name links by their kind, and by their direction if it matters.
var relations = [][3]string{
	{"blocks", "out", "blocks"}, {"blocks", "in", "blocked_by"}, {"duplicates", "out", "duplicates"}, {"duplicates", "in", "duplicated_by"},
	{"child_of", "out", "parent"}, {"child_of", "in", "children"}, {"relates_to", "", "relates_to"},
}

// described returns those of a ticket's details that have a value.
func described(f *search.Fields) (list attributes) {
	list = attributes{
		{"assignee", deref(f.Assignee)}, {"reporter", deref(f.Reporter)}, {"type", deref(f.Type)}, {"priority", deref(f.Priority)},
		{"labels", strings.Join(f.Labels, ", ")}, {"created", day(&f.CreatedAt)}, {"updated", day(&f.UpdatedAt)}, {"due", deref(f.DueDate)}, {"resolved", day(f.ResolvedAt)},
	}
	for _, relation := range relations {
		var linked []string
		for _, link := range f.Links {
			if link.Kind == relation[0] && (relation[1] == "" || link.Direction == relation[1]) {
				linked = append(linked, link.TicketKey+" "+clean.Line(link.TicketName, linkedName)+" ("+link.Status+")")
			}
		}
		list = append(list, [2]string{relation[2], strings.Join(linked, "; ")})
	}
	return list.known()
}

// day is that of a time; "" without one.
func day(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// maxValue is the maximum length in characters of a stored value beside an answer's text.
const maxValue = 1000

// tidy makes each stored value beside the text one clean line. Texts of sources stay.
func (a Answer) tidy() Answer {
	for _, part := range []any{a.Sources, a.ReadAs, a.Groups, a.Tickets, a.Candidates} {
		tidy(reflect.ValueOf(part))
	}
	return a
}

func tidy(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean.Value(v.String(), maxValue))
	case reflect.Pointer:
		if v.CanSet() && !v.IsNil() { // the prompt has the value as it is stored
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			v.Set(copied)
		}
		tidy(v.Elem())
	case reflect.Interface:
		if text, is := v.Interface().(string); is {
			v.Set(reflect.ValueOf(clean.Value(text, maxValue)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			tidy(v.Index(i))
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.Name != "Text" && value.CanSet() {
				tidy(value)
			}
		}
	}
}
