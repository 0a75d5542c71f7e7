package api

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
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

// asked is a question as it is answered, and by which response of the cache.
type asked struct {
	answer.Question
	cacheable
	started time.Time
}

// ask completes a question.
func (a *API) ask(ctx context.Context, who *caller, request *queryRequest) (asked, error) {
	question := request.Question
	question.Text = normal(question.Text)
	err := checkMe(who, question.Filters)
	if err != nil {
		return asked{}, err
	}
	if question.Filters, err = request.within(question.Filters); err != nil {
		return asked{}, err
	}
	if question.MatchThreshold == nil {
		usual := a.usualThreshold(ctx, question.Corpus)
		question.MatchThreshold = &usual
	}
	keyed := question
	keyed.Filters = question.Filters.Folded()
	whole := a.newCacheable(who, "query", question.Text, question.Filters.Project(), keyed, keyed.Filters.Nothing)
	whole.serving = a.servingOf(question.Corpus)
	switch {
	case question.Corpus == answer.Documents:
		whole.Project = &documentsVersion
	case question.Corpus == answer.All || question.Retrieval == answer.Hybrid:
		whole.Project = nil // words weigh by how rare they are in all projects; documents belong to none
	}
	return asked{question, whole, time.Now()}, nil
}

// query answers a question from tickets and documents.
func (a *API) query(ctx context.Context, who *caller, request *queryRequest) (any, error) {
	question, err := a.ask(ctx, who, request)
	if err != nil {
		return nil, err
	}
	made, origin, err := a.answer(ctx, who, question, nil)
	return reply{made.Body, origin}, err
}

// serveQuery answers a question as one response or as a stream.
func (a *API) serveQuery(c *fiber.Ctx, who *caller, request *queryRequest) error {
	if request.Stream || acceptsEvents(c) {
		return a.streamAnswer(c, who, request)
	}
	response, err := a.query(c.UserContext(), who, request)
	if err != nil {
		return err
	}
	return send(c, response)
}

// answer answers a question, which a listener, if there is one, hears, and logs it. Only complete
// answers are cached; others may succeed next time.
func (a *API) answer(ctx context.Context, who *caller, question asked, listener answer.Listener) (memo.Made, memo.Origin, error) {
	question.Alone = listener != nil
	made, origin, err := a.respond(ctx, who, question.cacheable, func(ctx context.Context, embedding memo.Query) (memo.Made, error) {
		found, err := a.Answerer.Answer(ctx, who.db, question.Question, embedding, listener)
		if err != nil {
			return memo.Made{Note: found}, err // as far as it came
		}
		kept := found
		kept.Cached = true
		return encodeResponse(found, kept, found.Outcome == answer.Answered || found.Outcome == answer.Abstained, found)
	})
	a.logAnswer(ctx, question.started, question.Question, made, origin, listener != nil, err)
	return made, origin, err
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
