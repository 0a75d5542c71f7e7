package answer

import (
	"slices"
	"strings"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/search"
)

// fields are what a ticket has beside its texts, as the retrieval functions return it.
type fields struct {
	search.TicketFields
	CreatedAt  *time.Time    `json:"created_at"`
	UpdatedAt  *time.Time    `json:"updated_at"`
	ResolvedAt *time.Time    `json:"resolved_at"`
	Links      []search.Link `json:"links"` // at most 20, to tickets that the caller may see
}

// linkedName is the maximum length in characters of a linked ticket's name.
const linkedName = 60

// relations name a link by its kind and direction.
var relations = map[[2]string]string{
	{"blocks", "out"}: "blocks", {"blocks", "in"}: "blocked_by",
	{"duplicates", "out"}: "duplicates", {"duplicates", "in"}: "duplicated_by",
	{"child_of", "out"}: "parent", {"child_of", "in"}: "children",
	{"relates_to", "out"}: "relates_to", {"relates_to", "in"}: "relates_to",
}

// attributes returns those that have a value.
func (f *fields) attributes() (list attributes) {
	day := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return at.UTC().Format(time.DateOnly)
	}
	linked := map[string]string{}
	for _, link := range f.Links {
		name := relations[[2]string{link.Kind, link.Direction}]
		linked[name] += "; " + link.TicketKey + " " + clean.Line(link.TicketName, linkedName) + " (" + link.Status + ")"
	}
	list = attributes{
		{"assignee", deref(f.Assignee)}, {"reporter", deref(f.Reporter)}, {"type", deref(f.Type)}, {"priority", deref(f.Priority)},
		{"labels", strings.Join(f.Labels, ", ")}, {"created", day(f.CreatedAt)}, {"updated", day(f.UpdatedAt)}, {"due", deref(f.DueDate)}, {"resolved", day(f.ResolvedAt)},
	}
	for _, name := range []string{"blocks", "blocked_by", "duplicates", "duplicated_by", "parent", "children", "relates_to"} {
		list = append(list, [2]string{name, strings.TrimPrefix(linked[name], "; ")})
	}
	return slices.DeleteFunc(list, func(a [2]string) bool { return a[1] == "" })
}

// withFields keeps the fields of each ticket's first source alone: the model need not read them
// again.
func withFields(chosen []candidate) []candidate {
	seen := map[sourceID]bool{}
	for i := range chosen {
		if id := chosen[i].sourceID(); seen[id] {
			chosen[i].Fields = nil
		} else {
			seen[id] = true
		}
	}
	return chosen
}
