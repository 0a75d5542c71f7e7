package answer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
)

// ReadAs is how a question about tickets was read.
type ReadAs struct {
	_ struct{} `schema:"ReadQuestion" doc:"How a question about tickets' fields was read: with ~text~ and ~filters~ a search lists the same tickets. Absent if the answer comes from texts."`

	Intent    Intent         `json:"intent" enum:"count,list,group"`
	Text      string         `json:"text" doc:"What a ticket's text must contain: words, and phrases in quotes."`
	Filters   filter.Members `json:"filters"`
	GroupBy   string         `json:"group_by,omitempty" example:"assignee" doc:"Of ~group~: the field whose values are counted."`
	Period    string         `json:"period,omitempty" enum:"day,week,month,quarter,year" doc:"What dates are grouped by."`
	Sort      string         `json:"sort" enum:"created,updated,resolved,due,size" doc:"By which date tickets are listed; ~size~: groups by their numbers."`
	Ascending bool           `json:"ascending,omitempty" doc:"The earliest or the smallest first."`
	Limit     int            `json:"limit,omitempty" doc:"The most tickets to list, if the question says."`
}

// Reread is a ReadAs as a request has it: the tags alone differ.
type Reread struct {
	_ struct{} `schema:"Reread" doc:"How a question about tickets' fields is to be read: the ~read_as~ of an answer, changed."`

	Intent    Intent         `json:"intent" enum:"count,list,group"`
	Text      string         `json:"text" default:"" maxlen:"2000"`
	Filters   filter.Members `json:"filters" default:""`
	GroupBy   string         `json:"group_by" default:"" maxlen:"20"`
	Period    string         `json:"period" default:"month" enum:"day,week,month,quarter,year"`
	Sort      string         `json:"sort" default:"created" enum:"created,updated,resolved,due,size"`
	Ascending bool           `json:"ascending" default:"false"`
	Limit     int            `json:"limit" default:"0" min:"0" max:"20"`
}

// readAs says how a question was read.
func readAs(r Reading) *ReadAs {
	read := r.ReadAs
	if read.Text = clean.Value(r.Text, maxValue); !r.ByDate() {
		read.Period = ""
	}
	return &read
}

// offersFigures reports whether the chat model may count tickets.
func (q Question) offersFigures() bool { return q.Figures && q.Corpus != Documents }

// called answers by a call of the model's tool.
func (a *Answerer) called(ctx context.Context, db rpc.Caller, q Question, call string, answer Answer) (Answer, error) {
	reading, err := ReadCall(call, q.Today.Location())
	if err != nil {
		answer.Sources, answer.LowSimilarity = []Source{}, true
		answer.Text, answer.Outcome = fmt.Sprintf(cannotTell, clean.Value(err.Error(), maxValue)), Empty
		return answer, nil
	}
	counted, err := a.figures(ctx, db, q, &reading, answer)
	if refused, is := errors.AsType[*fault.Error](err); is && len(refused.Fields) > 0 { // q.Filters have passed a retrieval
		counted.Text, counted.ReadAs = fmt.Sprintf(cannotTell, clean.Value(refused.Fields[0].Name+" "+refused.Fields[0].Message, maxValue)), readAs(reading)
		return counted.tidy(), nil
	}
	return counted, err
}

// figures answers from what the database counts of a reading.
func (a *Answerer) figures(ctx context.Context, db rpc.Caller, q Question, reading *Reading, answer Answer) (Answer, error) {
	answer.Sources, answer.LowSimilarity, answer.Outcome = []Source{}, true, Abstained
	started := time.Now()
	figures, doubt, err := reading.Compute(ctx, db, q.Filters, q.Today.Location())
	answer.Retrieval += time.Since(started)
	if err != nil {
		return answer, err
	}
	answer.ReadAs = readAs(*reading)
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
