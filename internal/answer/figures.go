package answer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tasklens/internal/clean"
	"tasklens/internal/fault"
	"tasklens/internal/filter"
	"tasklens/internal/rpc"
)

// ReadAs is how a question about tickets was read; a request may send it back, changed.
type ReadAs struct {
	_ struct{} `schema:"ReadQuestion" asked:"Reread" doc:"How a question about tickets' fields is read: with ~text~ and ~filters~ a search lists the same tickets. Absent if an answer comes from texts."`

	Intent    Intent         `json:"intent" enum:"count,list,group"`
	Text      string         `json:"text" default:"" maxlen:"2000" doc:"What a ticket's text must contain: words, and phrases in quotes."`
	Filters   filter.Members `json:"filters" default:""`
	GroupBy   string         `json:"group_by" default:"" maxlen:"20" example:"assignee" doc:"Of ~group~: the field whose values are counted."`
	Period    string         `json:"period" default:"month" enum:"day,week,month,quarter,year" doc:"What dates are grouped by."`
	Sort      string         `json:"sort" default:"created" enum:"created,updated,resolved,due,size" doc:"By which date tickets are listed; ~size~: groups by their numbers."`
	Ascending bool           `json:"ascending" default:"false" doc:"The earliest or the smallest first."`
	Limit     int            `json:"limit" default:"0" min:"0" max:"20" doc:"The most tickets to list; 0: the usual number."`
}

// offersFigures reports whether the chat model may count tickets.
func (q Question) offersFigures() bool { return q.Figures && q.Corpus != Documents }

// called answers by a call of the model's tool.
func (a *Answerer) called(ctx context.Context, db rpc.Caller, q Question, call string, answer Answer) (Answer, error) {
	read, err := ReadCall(call, q.Today.Location())
	if err != nil {
		answer.Sources, answer.LowSimilarity = []Source{}, true
		answer.Text, answer.Outcome = fmt.Sprintf(cannotTell, clean.Value(err.Error(), maxValue)), Empty
		return answer, nil
	}
	counted, err := a.figures(ctx, db, q, read, answer)
	if refused, is := errors.AsType[*fault.Error](err); is && len(refused.Fields) > 0 { // q.Filters have passed a retrieval
		why := strings.TrimPrefix(refused.Fields[0].Name, "filters.") + ": " + refused.Fields[0].Message
		counted.Text = fmt.Sprintf("I cannot tell: %s.", clean.Value(why, maxValue))
		return counted, nil
	}
	return counted, err
}
