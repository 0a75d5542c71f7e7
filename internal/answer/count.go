package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
	"tasklens/internal/search"
)

// Figures are what the database counted, in what the caller may see.
type Figures struct {
	Count   int64         `json:"count"`
	Capped  bool          `json:"capped"` // there are more than Count
	Groups  []GroupCount  `json:"groups"`
	Tickets []TicketFound `json:"tickets"`
}

// GroupCount is a value with its number of tickets.
type GroupCount struct {
	_ struct{} `schema:"GroupCount"`

	Value any     `json:"value,omitempty" doc:"What the filter takes, or a period. Absent: the tickets without a value."`
	Label *string `json:"label"`
	Count int64   `json:"count" min:"1"`
}

// TicketFound is a ticket that matches.
type TicketFound struct {
	_ struct{} `schema:"TicketFound"`

	TicketID    int64  `json:"ticket_id" min:"1" example:"5"`
	TicketKey   string `json:"ticket_key" example:"TX-400"`
	TicketName  string `json:"ticket_name" example:"Customer charged twice when a payment is retried"`
	Status      string `json:"status" example:"Done"`
	ProjectID   int64  `json:"project_id" min:"1" example:"1"`
	ProjectName string `json:"project_name" example:"Checkout and Payments"`
	search.Fields
	Changes []string `json:"changes,omitempty" min:"1" doc:"What changed on the day of ~updated_at~: ~created~, ~status~ and ~comment~ as far as stored, else ~field~."`
	Text    string   `json:"text"`
}

// Limits of the tickets of one answer.
const (
	mostTickets    = 20
	listedTickets  = 10 // of a list, if the call does not say how many
	countedTickets = 5  // of those counted, the latest
	mostDoubts     = 5  // names that are not clear
)

// Compute looks the names up and has the database count what a reading matches within further
// filters. doubt is what to say instead, where a name, a word or a filter is not clear. Names get
// those of the further filters that nothing has.
func (r *Reading) Compute(ctx context.Context, db rpc.Caller, given filter.Filters, zone *time.Location) (f Figures, doubt string, err error) {
	if r.Intent != Group && r.Sort == bySize { // tickets have none
		r.Sort = "created"
	}
	names, err := search.Resembling(ctx, db, r.Filters)
	if err != nil {
		return f, "", err
	}
	r.Filters = r.Filters.Correct(names)
	r.Names = slices.DeleteFunc(names, func(name filter.Candidate) bool { return len(name.Names) == 1 })
	if doubt = r.doubt(); doubt != "" {
		return f, doubt, nil
	}
	f, err = r.count(ctx, db, given.And(r.Filters), zone)
	if err != nil {
		return f, "", err
	}
	if f.Count == 0 && len(given) > 0 {
		if r.Names, err = search.Resembling(ctx, db, given); err != nil || len(r.Names) > 0 {
			return f, r.doubt(), err
		}
	}
	switch {
	case f.Count == 0 && r.Text != "":
		r.Intent = Count
		if anywhere, err := r.count(ctx, db, nil, zone); err != nil || anywhere.Count > 0 {
			return f, "", err
		}
		doubt = fmt.Sprintf("No ticket that you can see contains %s.", shown(r.Text))
	case r.Intent == Group && len(f.Groups) == 1 && f.Groups[0].Label == nil:
		doubt = fmt.Sprintf("None of these tickets has a value of %s.", r.GroupBy)
	}
	return f, doubt, nil
}

func (r Reading) count(ctx context.Context, db rpc.Caller, filters filter.Filters, zone *time.Location) (f Figures, err error) {
	most := map[Intent]int{Count: countedTickets, List: listedTickets, Group: 1}[r.Intent]
	if r.Limit > 0 && r.Intent == List {
		most = min(r.Limit, mostTickets)
	}
	arguments := map[string]any{
		"query_text": r.Text, "filters": filters, "period": r.Period, "time_zone": zone.String(),
		"sort": r.Sort, "ascending": r.Ascending, "match_count": most,
	}
	if r.Intent == Group {
		arguments["group_by"] = r.GroupBy
	}
	f, err = rpc.One[Figures](ctx, db, "count_tickets", arguments)
	if r.Intent == Group {
		f.Tickets = nil
	}
	return f, err
}

// Answer is the answer in a fixed form, within further filters; [1] cites the first ticket.
func (r Reading) Answer(f Figures, given filter.Filters) string {
	number, match := fmt.Sprintf("%d tickets", f.Count), " match "
	switch {
	case f.Capped:
		number = "More than 10,000 tickets"
	case f.Count == 0:
		number = "No tickets"
	case f.Count == 1:
		number, match = "1 ticket", " matches "
	}
	if what := clean.Value(given.And(r.Filters).String()+" "+r.Text, maxFilters); what != "" {
		number += match + what
	}
	order := map[bool]string{true: "earliest ", false: "latest "}[r.Ascending] + r.Sort
	ending := ":"
	switch {
	case f.Count == 0:
		ending = "."
	case r.Intent == Group:
		ending = fmt.Sprintf(", by %s:", r.GroupBy)
	case len(f.Tickets) == 0:
		ending = fmt.Sprintf(". None has a date %s.", r.Sort)
	case f.Capped || int64(len(f.Tickets)) < f.Count:
		ending = fmt.Sprintf(". The %s:", order)
	case f.Count > 1:
		ending = fmt.Sprintf(", the %s first:", order)
	}
	lines := []string{clean.Value(number+ending, 2*maxFilters)} // again: a colon after a bracket would make a link
	for _, group := range f.Groups {
		label := "none:"
		if group.Label != nil {
			label = clean.Value(shown(*group.Label)+":", 2*maxShown)
		}
		lines = append(lines, fmt.Sprintf("- %s %d", label, group.Count))
	}
	for i, ticket := range f.Tickets {
		lines = append(lines, fmt.Sprintf("- %s %s (%s) [%d]", shown(ticket.TicketKey), shown(ticket.TicketName), ticket.facts(r.Sort), i+1))
	}
	return strings.Join(lines, "\n")
}

// The maximum lengths in characters of a value in an answer's text, and of all filters.
const maxShown, maxFilters = 255, 2000

// shown are stored values as a part of an answer.
func shown(values ...string) string {
	lines := make([]string, len(values))
	for i, value := range values {
		lines[i] = clean.Value(value, maxShown)
	}
	return strings.Join(lines, ", ")
}

// facts are what a line says of a ticket that has the date.
func (t TicketFound) facts(date string) string {
	facts := shown(t.Status)
	if t.Assignee != nil {
		facts += ", assigned to " + shown(*t.Assignee)
	}
	if t.Reporter != nil {
		facts += ", reported by " + shown(*t.Reporter)
	}
	if date == "due" {
		return facts + ", due " + *t.DueDate
	}
	at := map[string]*time.Time{"updated": &t.UpdatedAt, "resolved": t.ResolvedAt}[date]
	facts += ", " + date + " " + cmp.Or(at, &t.CreatedAt).UTC().Format(time.DateOnly)
	if date == "updated" && len(t.Changes) > 0 {
		facts += ": " + strings.Join(t.Changes, ", ")
	}
	return facts
}

// cannotTell is what an answer says in place of a figure; of what, the caller adds.
const cannotTell = "I cannot tell: I can count and list tickets by project, status, people, type, priority, labels, dates and words, but not by \"%s\"."

// doubt is what an answer says in place of a figure, where a name is not clear; "" if all are.
func (r Reading) doubt() string {
	var doubts []string
	for _, name := range r.Names[:min(len(r.Names), mostDoubts)] {
		doubt := fmt.Sprintf("There is no %s \"%s\" among the tickets that you can see.", r.Filters.Member(name.Member).Typed, shown(name.Value))
		if len(name.Names) > 0 {
			doubt = fmt.Sprintf("Which %s is \"%s\"? %s.", r.Filters.Member(name.Member).Typed, shown(name.Value), shown(name.Names...))
		}
		doubts = append(doubts, doubt)
	}
	return strings.Join(doubts, " ")
}
