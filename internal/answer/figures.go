package answer

import (
	"context"
	"time"

	"tasklens/internal/ask"
	"tasklens/internal/clean"
	"tasklens/internal/filter"
)

// ReadAs is how a question about fields was read.
type ReadAs struct {
	_ struct{} `schema:"ReadQuestion" doc:"How a question about tickets' fields was read: with ~text~ and ~filters~ a search lists the same tickets. Absent if the answer comes from texts."`

	Intent  ask.Intent     `json:"intent" enum:"count,list,group,extreme"`
	Text    string         `json:"text" doc:"Words that a ticket's text must contain, each quoted."`
	Filters filter.Members `json:"filters"`
	GroupBy string         `json:"group_by,omitempty" example:"assignee" doc:"Of ~group~: the field whose values are counted."`
}

// figures answers a question about tickets' fields from numbers of the database. is is false if the
// question asks for what texts say.
func (a *Answerer) figures(ctx context.Context, db Database, q Question, answer Answer) (_ Answer, is bool, err error) {
	if q.Today.IsZero() || q.Corpus == Documents {
		return answer, false, nil
	}
	started := time.Now()
	reading, err := ask.Read(ctx, db, a.model, q.Thread, q.Today)
	if err != nil || reading.Intent == ask.Prose {
		return answer, false, err
	}
	figures, doubt, err := reading.Compute(ctx, db, q.Filters, q.Today.Location())
	answer.Retrieval, answer.Model = time.Since(started), ""
	if err != nil {
		return answer, true, err
	}
	answer.ReadAs = &ReadAs{Intent: reading.Intent, Text: clean.Value(reading.Text(), maxValue), Filters: reading.Filters, GroupBy: reading.GroupBy}
	if doubt != "" {
		answer.Text, answer.Outcome, answer.Candidates = doubt, Abstained, reading.Names
		return answer.tidy(), true, nil
	}
	answer.Text, answer.Outcome, answer.LowSimilarity = reading.Answer(figures), Answered, false
	answer.Count, answer.CountCapped, answer.Groups, answer.Tickets = &figures.Count, figures.Capped, figures.Groups, figures.Tickets
	for i := range figures.Tickets {
		t := &figures.Tickets[i]
		answer.Sources = append(answer.Sources, Source{Type: "ticket", TicketID: &t.TicketID, ProjectID: &t.ProjectID, Project: &t.ProjectName,
			TicketKey: &t.TicketKey, TicketName: &t.TicketName, Text: t.Text, Cited: true})
	}
	return answer.tidy(), true, nil
}
