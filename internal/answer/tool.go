package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/filter"
)

// Intent is what is wanted of the tickets that match.
type Intent string

// The intents.
const (
	Count Intent = "count"
	Group Intent = "group" // their numbers by the values of a field
	List  Intent = "list"
)

const bySize = "size" // the order of groups by their numbers

// Limits of a call.
const (
	maxConditions = 50
	maxWords      = 20
)

// typed returns what filters call their members, those of dates apart: the members are those of
// tasklens.ticket_members, as a test ensures.
func typed() (names, dates []string) {
	for _, member := range new(filter.Members).Typed() {
		if _, is := member.Value.(*filter.Range); is {
			dates = append(dates, member.Typed)
		} else {
			names = append(names, member.Typed)
		}
	}
	return names, dates
}

// Wrong returns a member of the tool that has another value than it may have; "" if none has.
// Groups need a field.
func (r ReadAs) Wrong() (member, value string) {
	for member, value := range map[string]string{"action": string(r.Intent), "group_by": r.GroupBy, "period": r.Period, "sort": r.Sort} {
		if !slices.Contains(choices[member], value) {
			return member, value
		}
	}
	if r.Intent == Group && r.GroupBy == "" {
		return "group_by", ""
	}
	return "", ""
}

// choices are the arguments that are one of a few values.
var choices = func() map[string][]string {
	names, dates := typed()
	return map[string][]string{
		"action":   {string(Count), string(Group), string(List)},
		"state":    {"any", "open", "done"},
		"group_by": slices.Concat([]string{""}, names, dates, []string{"open"}),
		"period":   {"day", "week", "month", "quarter", "year"},
		"sort":     append(slices.Clone(dates), bySize),
	}
}()

// GroupedBy are the fields by whose values tickets are counted.
func GroupedBy() []string { return choices["group_by"][1:] }

// Tool is what a chat model is offered.
var Tool = func() chat.Schema {
	text := map[string]any{"type": "string"}
	oneOf := func(values []string, description string) map[string]any {
		return map[string]any{"type": "string", "enum": values, "description": description}
	}
	list := func(items map[string]any, description string) map[string]any {
		return map[string]any{"type": "array", "items": items, "description": description}
	}
	names, dates := typed()
	return chat.Schema{
		Name: "find_tickets",
		Description: "Counts, groups or lists the tickets of the tracker by their fields, words and dates. Call it, once, in place of an answer, if the question asks how many tickets there are, " +
			"which ones they are, whose, or since when: the sources are only a few of them. Do not call it for what texts say, why or how, nor for what it cannot express. Add no condition that the question does not make.",
		JSON: object(map[string]any{
			"action":    oneOf(choices["action"], "group: the numbers by the values of group_by."),
			"state":     oneOf(choices["state"], "open: not done."),
			"group_by":  oneOf(choices["group_by"], "What group counts by; else empty."),
			"period":    oneOf(choices["period"], "What dates are grouped by."),
			"sort":      oneOf(choices["sort"], "By which date tickets are listed, the latest first. size: the largest groups first."),
			"ascending": map[string]any{"type": "boolean", "description": "The earliest, or the smallest groups, first."},
			"limit":     map[string]any{"type": "integer", "description": "The most tickets to list, 20 at most; 0: the usual number."},
			"words":     list(text, "Words or phrases that all stand in the text of each ticket, in its language; usually none."),
			"filters": list(object(map[string]any{
				"field":  oneOf(names, "The field."),
				"values": list(text, "Names as the question has them, of which a ticket has one. Of people, \"me\" is who asks and \"\" is nobody."),
				"not":    map[string]any{"type": "boolean", "description": "Leaves out the tickets with these values."},
			}), "Conditions that all hold. Two of one field are alternatives; two of label must both hold."),
			"dates": list(object(map[string]any{
				"field": oneOf(dates, "The date."), "from": text, "to": text,
			}), "Days, as 2025-03-31, both included; an empty one leaves the end open. Relative ones are from today's date, weeks from Monday."),
		}),
	}
}()

// object is the schema of an object that has all of these members and no others.
func object(members map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": members, "required": slices.Sorted(maps.Keys(members)), "additionalProperties": false}
}

// call are the arguments of the tool, of which ReadAs has some. What else it has, is none of them.
type call struct {
	ReadAs
	Intent  any `json:"intent"`
	Text    any `json:"text"`
	Action  Intent
	State   string
	Words   []string
	Filters []struct {
		Field  string
		Values []string
		Not    bool
	} `json:"filters"`
	Dates []struct{ Field, From, To string }
}

// ReadCall checks the arguments of a call of the tool. Its days are those of a time zone. An error
// says what cannot be read, and is fit for the answer.
func ReadCall(arguments string, zone *time.Location) (r ReadAs, err error) {
	var given call
	if json.Unmarshal([]byte(arguments), &given) != nil || len(given.Filters)+len(given.Dates) > maxConditions || len(given.Words) > maxWords ||
		strings.ContainsRune(fmt.Sprint(given), 0) { // Postgres stores no NUL
		return r, errors.New("a call that cannot be read")
	}
	r = given.ReadAs
	r.Intent, r.Limit = given.Action, min(max(0, r.Limit), mostTickets)
	if field, value := r.Wrong(); field != "" {
		return r, fmt.Errorf("%s %s", field, strconv.Quote(value))
	}
	if !slices.Contains(choices["state"], given.State) {
		return r, fmt.Errorf("state %s", strconv.Quote(given.State))
	}
	if given.State != "any" {
		isOpen := given.State == "open"
		r.Filters.Open = &isOpen
	}
	for _, word := range given.Words {
		if word = strings.TrimSpace(strings.ReplaceAll(word, `"`, " ")); word != "" {
			r.Text = strings.TrimSpace(r.Text + ` "` + word + `"`)
		}
	}
	var not filter.Members
	for _, condition := range given.Filters {
		members := &r.Filters
		if condition.Not {
			members = &not
		}
		if err := add(members.Typed(), condition.Field, condition.Values, condition.Not); err != nil {
			return r, err
		}
	}
	if !not.IsZero() {
		r.Filters.Not = &not
	}
	for _, span := range given.Dates {
		member := memberOf(r.Filters.Typed(), span.Field)
		limit, is := member.Value.(*filter.Range)
		if !is || *limit != (filter.Range{}) {
			return r, fmt.Errorf("%s %s", span.Field, span.From+".."+span.To)
		}
		in := zone
		if member.Kind == filter.Days {
			in = time.UTC
		}
		*limit = filter.Range{From: written(span.From, 0, in), To: written(span.To, 1, in)}
	}
	return r, nil
}

// memberOf returns the member of this name in the text of a query.
func memberOf(members []filter.Member, name string) filter.Member {
	at := slices.IndexFunc(members, func(m filter.Member) bool { return m.Typed == name })
	if at < 0 {
		return filter.Member{}
	}
	return members[at]
}

// add adds values to the member of a field. More labels must be there too.
func add(members []filter.Member, field string, texts []string, not bool) error {
	member := memberOf(members, field)
	var values filter.Values
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			values = append(values, text)
		} else if member.Kind == filter.People {
			values = append(values, nil)
		}
	}
	switch list := member.Value.(type) {
	case *filter.Values:
		*list = append(*list, values...)
		return nil
	case *filter.Labels:
		return list.Add(values, not)
	}
	return fmt.Errorf("%s %s", field, strings.Join(texts, ", "))
}

// written is a day as an end of a range: in a zone the midnight so many days after. What is no day
// stays, for the database to refuse.
func written(day string, after int, zone *time.Location) string {
	at, err := time.ParseInLocation(time.DateOnly, day, zone)
	if err != nil || zone == time.UTC {
		return day
	}
	return at.AddDate(0, 0, after).Format(time.RFC3339)
}
