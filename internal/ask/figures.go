package ask

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tasklens/internal/filter"
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
	search.TicketFields
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
	Text       string     `json:"text"`
}

// Limits of the tickets of one answer.
const (
	mostTickets    = 20
	listedTickets  = 10 // of a list, if the question does not say how many
	countedTickets = 5  // of those counted, the latest
)

// Compute has the database count what a reading matches within further filters. doubt is what to
// say instead, where a name or a word is not clear.
func (r Reading) Compute(ctx context.Context, db search.Database, given filter.Filters, zone *time.Location) (f Figures, doubt string, err error) {
	if doubt = r.doubt(); doubt != "" {
		return f, doubt, nil
	}
	if f, err = r.count(ctx, db, given, zone); err != nil {
		return f, "", err
	}
	switch {
	case f.Count == 0 && len(r.Words) > 0:
		anywhere, err := Reading{Words: r.Words, Goal: Goal{Sort: r.Sort}}.count(ctx, db, nil, zone)
		if anywhere.Count == 0 {
			doubt = fmt.Sprintf("No ticket that you can see contains %s.", r.Text())
		}
		return f, doubt, err
	case r.Intent == Group && len(f.Groups) == 1 && f.Groups[0].Label == nil:
		doubt = fmt.Sprintf("None of these tickets has a value of %s.", r.GroupBy)
	}
	return f, doubt, nil
}

func (r Reading) count(ctx context.Context, db search.Database, given filter.Filters, zone *time.Location) (Figures, error) {
	most := map[Intent]int{Count: countedTickets, List: listedTickets, Group: 1}[r.Intent]
	if r.Limit > 0 && r.Intent != Group {
		most = min(r.Limit, mostTickets)
	}
	arguments := map[string]any{"sort": r.Sort, "ascending": r.Ascending, "match_count": most}
	if filters := given.And(r.Filters); len(filters) > 0 {
		arguments["filters"] = filters
	}
	if len(r.Words) > 0 {
		arguments["query_text"] = r.Text()
	}
	if r.Intent == Group {
		arguments["group_by"], arguments["period"], arguments["time_zone"] = r.GroupBy, r.Period, zone.String()
	}
	var rows []Figures
	if err := db.Call(ctx, "count_tickets", arguments, &rows); err != nil {
		return Figures{}, fmt.Errorf("count tickets: %w", err)
	}
	if len(rows) != 1 {
		return Figures{}, fmt.Errorf("count tickets: the database returned %d rows", len(rows))
	}
	figures := rows[0]
	if r.Intent == Group {
		figures.Tickets = nil
	}
	if r.Ranked {
		slices.SortStableFunc(figures.Groups, func(a, b GroupCount) int { return cmp.Compare(r.rank(a), r.rank(b)) })
	}
	return figures, nil
}

// rank is a group's place by its size. Nobody has no place among people.
func (r Reading) rank(group GroupCount) int64 {
	switch {
	case group.Label == nil:
		return math.MaxInt64
	case r.Fewest:
		return group.Count
	}
	return -group.Count
}

// Answer is the answer in a fixed form; [1] cites the first ticket.
func (r Reading) Answer(f Figures) string {
	var b strings.Builder
	what := strings.TrimSpace(r.Filters.String() + " " + r.Text())
	if what != "" {
		what = " match " + what
	}
	number := fmt.Sprintf("%d tickets", f.Count)
	switch {
	case f.Capped:
		number = "More than 10,000 tickets"
	case f.Count == 0:
		number = "No tickets"
	case f.Count == 1:
		number, what = "1 ticket", strings.Replace(what, "match", "matches", 1)
	}
	fmt.Fprintf(&b, "%s%s", number, what)
	switch {
	case f.Count == 0:
		b.WriteString(".")
	case r.Intent == Group:
		fmt.Fprintf(&b, ", by %s:", r.GroupBy)
	case len(f.Tickets) == 0:
		fmt.Fprintf(&b, ". None has a date %s.", r.Sort)
	case f.Capped || int64(len(f.Tickets)) < f.Count:
		fmt.Fprintf(&b, ". The %s %s:", map[bool]string{true: "first", false: "last"}[r.Ascending], r.Sort)
	default:
		b.WriteString(":")
	}
	for _, group := range f.Groups {
		label := "none"
		if group.Label != nil {
			label = *group.Label
		}
		fmt.Fprintf(&b, "\n- %s: %d", label, group.Count)
	}
	for i, ticket := range f.Tickets {
		fmt.Fprintf(&b, "\n- %s %s (%s) [%d]", ticket.TicketKey, ticket.TicketName, strings.Join(ticket.facts(r.Sort), ", "), i+1)
	}
	return b.String()
}

// facts are what a line says of a ticket.
func (t TicketFound) facts(sort string) []string {
	facts := []string{t.Status}
	if t.Assignee != nil {
		facts = append(facts, "assigned to "+*t.Assignee)
	}
	if t.Reporter != nil {
		facts = append(facts, "reported by "+*t.Reporter)
	}
	switch {
	case sort == "due" && t.DueDate != nil:
		return append(facts, "due "+*t.DueDate)
	case sort == "resolved" && t.ResolvedAt != nil:
		return append(facts, "resolved "+t.ResolvedAt.UTC().Format(time.DateOnly))
	case sort == "updated":
		return append(facts, "updated "+t.UpdatedAt.UTC().Format(time.DateOnly))
	}
	return append(facts, "created "+t.CreatedAt.UTC().Format(time.DateOnly))
}

// doubt is what an answer says in place of a figure, where a name or a word is not clear; "" if all
// is.
func (r Reading) doubt() string {
	var b strings.Builder
	for _, name := range r.Names {
		if kind := r.Filters.Member(name.Member).Typed; len(name.Names) == 0 {
			fmt.Fprintf(&b, "There is no %s %q among the tickets that you can see. ", kind, name.Value)
		} else {
			fmt.Fprintf(&b, "Which %s is %q? %s. ", kind, name.Value, strings.Join(name.Names, ", "))
		}
	}
	if len(r.Unread) > 0 && b.Len() == 0 {
		fmt.Fprintf(&b, "I cannot tell: I can count and list tickets by project, status, people, type, priority, labels, dates and words, but not by %q.", strings.Join(r.Unread, " "))
	}
	return strings.TrimSpace(b.String())
}
