package export

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// tracker is a program that tickets come from, and how its files are read. Each is in a file of its
// own.
type tracker struct {
	name, title string                              // in manifests, and as people call it
	columns     columns                             // of the members of a ticket, and of what else finish reads
	header      []string                            // the columns of a CSV file that show it, which are required
	shows       func(gjson.Result) bool             // whether a JSON file with this first object is of it
	first       string                              // what that object has, for people
	object      func(*issues, gjson.Result) members // of an issue; nil: as they are
	names       map[string]string                   // of these members on the tracker's pages
	inner       tree                                // of the objects in an issue, what is read or tells nothing of the ticket
	markup      func(string, people) string         // a text of it as Markdown; nil: it is that
	finish      func(*row, *Ticket) error           // reads what is peculiar to it
}

// trackers are those whose exports are known by their beginning.
var trackers = []*tracker{&jira, &linear, &github, &gitlab}

// titles names the trackers of which some files are.
func titles(are func(*tracker) bool) string {
	var all []string
	for _, t := range trackers {
		if are(t) {
			all = append(all, t.title)
		}
	}
	return listed(all, " or ")
}

func hasHeader(t *tracker) bool { return t.header != nil }
func hasObject(t *tracker) bool { return t.shows != nil }

// listed joins names by commas, and the last one by another word.
func listed(names []string, last string) string {
	at := max(len(names)-1, 0)
	return strings.TrimPrefix(strings.Join(names[:at], ", ")+last+strings.Join(names[at:], ""), last)
}

// columns are the names that members of a ticket have in a tracker, compared by fold: the first
// with a value counts.
type columns map[string][]string

// of names a member as its tracker does.
func (c columns) of(member string) string {
	if names := c[member]; names != nil {
		return names[0]
	}
	return member
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

// fold makes one name of the spellings of a column's: Fix Version/s, fixVersions.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// fields are what a ticket has of one text or list, each read as it is. Another text of one line is
// added here, to Ticket and to the columns of the trackers that have it.
var fields = []struct {
	name string
	in   func(*Ticket) any // a *string, *Text or *[]string
}{
	{"key", func(t *Ticket) any { return &t.Key }},
	{"project_key", func(t *Ticket) any { return &t.ProjectKey }},
	{"name", func(t *Ticket) any { return &t.Name }},
	{"description", func(t *Ticket) any { return &t.Description }},
	{"status", func(t *Ticket) any { return &t.Status }},
	{"status_category", func(t *Ticket) any { return &t.Category }},
	{"assignee", func(t *Ticket) any { return &t.Assignee }},
	{"reporter", func(t *Ticket) any { return &t.Reporter }},
	{"ticket_type", func(t *Ticket) any { return &t.TicketType }},
	{"priority", func(t *Ticket) any { return &t.Priority }},
	{"labels", func(t *Ticket) any { return &t.Labels }},
	{"due_date", func(t *Ticket) any { return &t.DueDate }},
	{"created_at", func(t *Ticket) any { return &t.CreatedAt }},
	{"updated_at", func(t *Ticket) any { return &t.UpdatedAt }},
	{"resolved_at", func(t *Ticket) any { return &t.ResolvedAt }},
	{"source_id", func(t *Ticket) any { return &t.SourceID }},
	{"url", func(t *Ticket) any { return &t.URL }},
}

// Kept names the columns that no field has and that are kept: as labels, or as lines at the end of
// the description.
type Kept struct{ Labels, Text []string }

// DefaultText are the columns kept as text unless others are named.
const DefaultText = "Resolution,Fix versions,Affects versions,Environment,Milestone"

// keepOthers stores or counts what the row has in columns that no field has, but for those that
// the tracker takes, and what the objects in its members have that nothing reads.
func (r *row) keepOthers(t *Ticket, takes func(column string, values []string) bool) {
	unread := map[string]bool{}
	for _, other := range r.others {
		column, values, value := other[0], r.cells[other[1]], r.members[other[2]]
		if len(values) == 0 && !isBlank(value) {
			values = []string{value.Raw}
		}
		if takes == nil || !takes(column, values) {
			unread[other[1]] = !r.keep(t, column, values, true)
		}
	}
	inside, names := map[string][]string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		r.inner[fold(name)].others(name, r.members[name], func(path string, value gjson.Result) {
			if inside[path] == nil {
				names = append(names, path)
			}
			inside[path] = append(inside[path], cmp.Or(r.valueOf(value), value.Raw))
		})
	}
	for _, path := range names { // what is in a member that is left out is named with it
		name, _, _ := strings.Cut(path, ".")
		r.keep(t, path, inside[path], !unread[fold(name)])
	}
}

// keep stores the values of a column that an option names, or counts it, and reports whether an
// option does.
func (r *row) keep(t *Ticket, column string, values []string, counts bool) bool {
	shown := column
	if inner, is := strings.CutPrefix(column, "Custom field ("); is {
		shown = strings.TrimSuffix(inner, ")")
	}
	is := func(name string) bool {
		isIt := name != "" && (fold(name) == fold(shown) || fold(name) == fold(column))
		if isIt {
			r.named[name] = true
		}
		return isIt
	}
	isLabel, isText := slices.ContainsFunc(r.kept.Labels, is), slices.ContainsFunc(r.kept.Text, is)
	switch {
	case len(values) == 0:
	case isLabel:
		for _, value := range values {
			t.Labels = append(t.Labels, shown+": "+value)
		}
	case isText:
		t.kept = append(t.kept, line{shown + ": ", strings.Join(values, ", ")})
	case counts:
		r.unread[strings.Trim(quote(column), `"`)]++
	}
	return isLabel || isText
}
