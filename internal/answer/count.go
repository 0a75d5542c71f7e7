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
	Count       *int64        `json:"count,omitempty" min:"0" max:"10000" doc:"How many tickets match."`
	CountCapped bool          `json:"count_capped,omitempty" doc:"There are more than ~count~."`
	Groups      []GroupCount  `json:"groups,omitempty" min:"1" max:"100" doc:"Their numbers by the values of ~read_as.group_by~."`
	Tickets     []TicketFound `json:"tickets,omitempty" min:"1" max:"20" doc:"Of those that match; ~sources~ has them in the same order."`
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

// figures answers from what the database counts of a reading. A name, a word or a filter that is
// not clear gets a question in place of a figure.
func (a *Answerer) figures(ctx context.Context, db rpc.Caller, q Question, read ReadAs, answer Answer) (found Answer, err error) {
	defer func(began time.Time) {
		found.Retrieval += time.Since(began)
		read.Text = clean.Value(read.Text, maxValue)
		found = found.tidy()
	}(time.Now())
	if read.Intent != Group && read.Sort == bySize { // tickets have none
		read.Sort = "created"
	}
	answer.Sources, answer.LowSimilarity, answer.Outcome, answer.ReadAs = []Source{}, true, Abstained, &read
	names, err := search.Resembling(ctx, db, read.Filters)
	if err != nil {
		return answer, err
	}
	read.Filters = read.Filters.Correct(names)
	unclear := slices.DeleteFunc(names, func(name filter.Candidate) bool { return len(name.Names) == 1 })
	if len(unclear) > 0 {
		answer.Text, answer.Candidates = doubt(unclear), unclear
		return answer, nil
	}
	counted, err := read.count(ctx, db, q, q.Filters.And(read.Filters))
	if err != nil {
		return answer, err
	}
	if *counted.Count == 0 && len(q.Filters) > 0 {
		if unclear, err = search.Resembling(ctx, db, q.Filters); err != nil || len(unclear) > 0 {
			answer.Text, answer.Candidates = doubt(unclear), unclear
			return answer, err
		}
	}
	switch {
	case *counted.Count == 0 && read.Text != "":
		anywhere, err := ReadAs{Intent: Count, Text: read.Text, Period: read.Period, Sort: read.Sort}.count(ctx, db, q, nil)
		if err != nil {
			return answer, err
		}
		if *anywhere.Count == 0 {
			answer.Text = fmt.Sprintf("No ticket that you can see contains %s.", shown(read.Text))
			return answer, nil
		}
	case read.Intent == Group && len(counted.Groups) == 1 && counted.Groups[0].Label == nil:
		answer.Text = fmt.Sprintf("None of these tickets has a value of %s.", read.GroupBy)
		return answer, nil
	}
	answer.Text, answer.Outcome, answer.LowSimilarity, answer.Figures = read.say(counted, q.Filters), Answered, false, counted
	for i := range counted.Tickets {
		t := &counted.Tickets[i]
		answer.Sources = append(answer.Sources, Source{Type: "ticket", TicketID: &t.TicketID, ProjectID: &t.ProjectID, Project: &t.ProjectName,
			TicketKey: &t.TicketKey, TicketName: &t.TicketName, Text: t.Text, Cited: true})
	}
	return answer, nil
}

// count has the database count what a reading matches within filters.
func (r ReadAs) count(ctx context.Context, db rpc.Caller, q Question, filters filter.Filters) (f Figures, err error) {
	most := map[Intent]int{Count: countedTickets, List: cmp.Or(r.Limit, listedTickets), Group: 1}[r.Intent]
	arguments := map[string]any{
		"query_text": r.Text, "filters": filters, "period": r.Period, "time_zone": q.Today.Location().String(),
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

// say is the answer in a fixed form, within further filters; [1] cites the first ticket.
func (r ReadAs) say(f Figures, given filter.Filters) string {
	count := *f.Count
	number, match := fmt.Sprintf("%d tickets", count), " match "
	switch {
	case f.CountCapped:
		number = "More than 10,000 tickets"
	case count == 0:
		number = "No tickets"
	case count == 1:
		number, match = "1 ticket", " matches "
	}
	if what := clean.Value(given.And(r.Filters).String()+" "+r.Text, maxFilters); what != "" {
		number += match + what
	}
	order := map[bool]string{true: "earliest ", false: "latest "}[r.Ascending] + r.Sort
	ending := ":"
	switch {
	case count == 0:
		ending = "."
	case r.Intent == Group:
		ending = fmt.Sprintf(", by %s:", r.GroupBy)
		if _, dates := typed(); slices.Contains(dates, r.GroupBy) {
			ending = fmt.Sprintf(", by %s %s:", r.Period, r.GroupBy) // by month created
		}
	case len(f.Tickets) == 0:
		ending = fmt.Sprintf(". None is %s.", r.Sort)
	case f.CountCapped || int64(len(f.Tickets)) < count:
		ending = fmt.Sprintf(". The %s:", order)
	case count > 1:
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

// doubt is what an answer says of names that nothing or several have; "" without any.
func doubt(names []filter.Candidate) string {
	var doubts []string
	for _, name := range names[:min(len(names), mostDoubts)] {
		typed := new(filter.Members).Member(name.Member).Typed
		doubt := fmt.Sprintf("There is no %s \"%s\" among the tickets that you can see.", typed, shown(name.Value))
		if len(name.Names) > 0 {
			doubt = fmt.Sprintf("Which %s is \"%s\"? %s.", typed, shown(name.Value), shown(name.Names...))
		}
		doubts = append(doubts, doubt)
	}
	return strings.Join(doubts, " ")
}
