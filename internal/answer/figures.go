package answer

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/ask"
	"tasklens/internal/clean"
	"tasklens/internal/filter"
)

// ReadAs is how a question about tickets was read.
type ReadAs struct {
	_ struct{} `schema:"ReadQuestion" doc:"How a question about tickets' fields was read: with ~text~ and ~filters~ a search lists the same tickets. Absent if the answer comes from texts."`

	Intent  ask.Intent     `json:"intent" enum:"count,list,group"`
	Text    string         `json:"text" doc:"Words that a ticket's text must contain, each quoted."`
	Filters filter.Members `json:"filters"`
	GroupBy string         `json:"group_by,omitempty" example:"assignee" doc:"Of ~group~: the field whose values are counted."`
}

// offersFigures reports whether the chat model may count tickets.
func (q Question) offersFigures() bool { return q.Figures && q.Corpus != Documents }

// figures answers by a call of the model's tool, from what the database counts.
func (a *Answerer) figures(ctx context.Context, db Database, q Question, call string, answer Answer) (Answer, error) {
	answer.Sources, answer.LowSimilarity, answer.Outcome = []Source{}, true, Abstained
	zone := q.Today.Location()
	reading, err := ask.Read(call, zone)
	if err != nil {
		answer.Text, answer.Outcome = fmt.Sprintf(ask.CannotTell, clean.Value(err.Error(), maxValue)), Empty
		return answer, nil
	}
	started := time.Now()
	figures, doubt, err := reading.Compute(ctx, db, q.Filters, zone)
	answer.Retrieval += time.Since(started)
	if err != nil {
		return answer, err
	}
	answer.ReadAs = &ReadAs{Intent: reading.Intent, Text: clean.Value(reading.Text(), maxValue), Filters: reading.Filters, GroupBy: reading.GroupBy}
	if doubt != "" {
		answer.Text, answer.Candidates = doubt, reading.Names
		return answer.tidy(), nil
	}
	answer.Text, answer.Outcome, answer.LowSimilarity = reading.Answer(figures, q.Filters), Answered, false
	answer.Count, answer.CountCapped, answer.Groups, answer.Tickets = &figures.Count, figures.Capped, figures.Groups, figures.Tickets
	for i := range figures.Tickets {
		t := &figures.Tickets[i]
		answer.Sources = append(answer.Sources, Source{Type: "ticket", TicketID: &t.TicketID, ProjectID: &t.ProjectID, Project: &t.ProjectName,
			TicketKey: &t.TicketKey, TicketName: &t.TicketName, Text: t.Text, Cited: true})
	}
	return answer.tidy(), nil
}
