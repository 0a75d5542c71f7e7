package api

import (
	"context"
	"strings"
	"time"
	_ "time/tzdata" // the image has no time zones

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/querylog"
)

type queryRequest struct {
	answer.Question
	narrowed
	Stream bool `json:"stream" default:"false" doc:"Answer with server-sent events."`
}

func (r *queryRequest) check(wrong report) {
	_, err := time.LoadLocation(r.TimeZone)
	wrong(err != nil || r.TimeZone == "Local", "time_zone", "must be a time zone such as Europe/Berlin")
	onlyDocuments := r.Corpus == answer.Documents
	wrong(onlyDocuments && r.ProjectID != nil, "project_id", "must be left out where only documents are asked")
	wrong(onlyDocuments && r.StatusFilter != nil, "status_filter", "must be left out where only documents are asked")
	wrong(onlyDocuments && r.Reread != nil, "read_as", "must be left out where only documents are asked")
	if r.Reread != nil {
		member, _ := r.Reread.Wrong()
		wrong(member != "", "read_as."+member, "must be a field to group by: %s", strings.Join(answer.GroupedBy(), ", "))
	}
	wrong(onlyDocuments && len(r.Filters) > 0, "filters", "must be left out where only documents are asked")
}

// query answers a question from tickets and documents.
func (a *API) query(ctx context.Context, who *caller, request *queryRequest) (any, error) {
	return a.answer(ctx, who, request, nil)
}

// answer answers a question, which a listener, if there is one, hears. Only complete answers are
// cached; others may succeed next time.
func (a *API) answer(ctx context.Context, who *caller, request *queryRequest, listener answer.Listener) (memo.Made, error) {
	question := request.Question
	question.Text = normal(question.Text)
	question.Resolve(a.Now())
	question.Filters = request.within(question.Filters)
	now, err := a.present(ctx, who, question.Corpus, question.Filters)
	if question.MatchThreshold == nil && err == nil {
		question.MatchThreshold = &now.usual
	}
	whole := newCacheable(who, "query", now, question, question.Today) // the day is in the prompt, too
	whole.Alone, whole.err = listener != nil, err
	whole.entry = func(err error) querylog.Entry {
		return querylog.OfAnswer(question, answer.Answer{}, now.usual, err)
	}
	return a.respond(ctx, whole, func(ctx context.Context) (memo.Made, error) {
		found, err := a.Answerer.Answer(ctx, who.db, question, a.Embeddings.Query(now.Model, question.Search), listener)
		var kept any
		if found.Outcome == answer.Answered || found.Outcome == answer.Abstained {
			cached := found
			cached.Cached = true
			kept = cached
		}
		return made(querylog.OfAnswer(question, found, now.usual, err), found, kept, err)
	})
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
