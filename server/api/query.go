package api

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/postgrest"
)

type queryRequest struct {
	answer.Question
	narrowed
	Stream bool `json:"stream" default:"false" doc:"Whether the answer comes as server-sent events."`
}

func (r *queryRequest) check(wrong report) {
	onlyDocuments := r.Corpus == answer.Documents
	wrong(onlyDocuments && r.ProjectID != nil, "project_id", "must be left out where only documents are asked")
	wrong(onlyDocuments && r.StatusFilter != nil, "status_filter", "must be left out where only documents are asked")
	wrong(onlyDocuments && !r.Filters.IsZero(), "filters", "must be left out where only documents are asked")
	wrong(r.Retrieval == answer.Hybrid && r.Corpus != answer.Tickets, "retrieval", "must be \"vector\" where documents are asked")
}

// documentsVersion is the project id that stands for all documents; see data_version in the
// database.
var documentsVersion int64 = -1

// query answers a question from tickets and documents, as one response or as a stream.
func (a *API) query(c *fiber.Ctx, request *queryRequest) error {
	if err := checkMe(c, request.Filters); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	question := request.Question
	question.Text = normal(question.Text)
	if question.Filters, err = request.within(question.Filters); err != nil {
		return err
	}
	if question.MatchThreshold == nil {
		usual := a.usualThreshold(c.UserContext(), question.Corpus)
		question.MatchThreshold = &usual
	}
	started := time.Now()
	keyed := question
	keyed.Filters = question.Filters.Folded()
	whole := a.newAsked(c, "query", question.Text, question.Filters.Project(), []any{keyed, keyed.Filters.Nothing})
	whole.serving = a.servingOf(question.Corpus)
	switch {
	case question.Corpus == answer.Documents:
		whole.Project = &documentsVersion
	case question.Corpus == answer.All || question.Retrieval == answer.Hybrid:
		whole.Project = nil // words weigh by how rare they are in all projects; documents belong to none
	}
	if request.Stream || acceptsEvents(c) {
		return a.streamAnswer(c, db, whole, question, started)
	}
	made, origin, err := a.respond(c.UserContext(), db, whole, a.answering(db, question, nil))
	a.logAnswer(c.UserContext(), started, question, made, origin, false, err)
	if err != nil {
		return err
	}
	return sendMade(c, made, origin)
}

// answering returns the work for a question, which a listener, if there is one, hears. Only
// complete answers are cached; others may succeed next time.
func (a *API) answering(db *postgrest.Session, question answer.Question, listener answer.Listener) work {
	return func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		found, err := a.Answerer.Answer(ctx, db, question, embedding, listener)
		if err != nil {
			return memo.Made{Note: found}, err // as far as it came
		}
		kept := found
		kept.Cached = true
		return encodeResponse(found, kept, found.Outcome == answer.Answered || found.Outcome == answer.Abstained, found)
	}
}

// acceptsEvents reports whether the Accept header names server-sent events.
func acceptsEvents(c *fiber.Ctx) bool {
	for _, kind := range strings.Split(c.Get(fiber.HeaderAccept), ",") {
		name, parameters, _ := strings.Cut(kind, ";")
		if strings.EqualFold(strings.TrimSpace(name), mimeEvents) {
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		}
	}
	return false
}
