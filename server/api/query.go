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
		member, _ := r.Reread.Goal().Wrong()
		wrong(member != "", "read_as."+member, "must be a field to group by: %s", strings.Join(answer.GroupedBy(), ", "))
	}
	wrong(onlyDocuments && len(r.Filters) > 0, "filters", "must be left out where only documents are asked")
}

// documentsVersion is the project id that stands for all documents; see data_version in the
// database.
var documentsVersion int64 = -1

// ask completes a question, and says by which response of the cache it may be answered.
func (a *API) ask(ctx context.Context, who *caller, request *queryRequest) (answer.Question, cacheable) {
	question := request.Question
	question.Text = normal(question.Text)
	question.Resolve(a.Now())
	question.Filters = request.within(question.Filters)
	usual := a.usualThreshold(ctx, question.Corpus)
	if question.MatchThreshold == nil {
		question.MatchThreshold = &usual
	}
	whole := a.newCacheable(who, "query", question.Search, question)
	whole.Day = question.Today.Format(time.RFC3339)
	whole.serving = a.servingOf(question.Corpus)
	if question.Corpus == answer.Documents { // tickets depend on all projects: words by how rare they are, links by the other ticket's name
		whole.Project = &documentsVersion
	}
	whole.entry = func(found any, err error) querylog.Entry {
		answered, _ := found.(answer.Answer)
		return querylog.OfAnswer(question, answered, usual, err)
	}
	return question, whole
}

// query answers a question from tickets and documents.
func (a *API) query(ctx context.Context, who *caller, request *queryRequest) (any, error) {
	question, whole := a.ask(ctx, who, request)
	return a.respond(ctx, who, whole, a.answering(who, question, nil))
}

// answering answers a question, which a listener, if there is one, hears. Only complete answers
// are cached; others may succeed next time.
func (a *API) answering(who *caller, question answer.Question, listener answer.Listener) work {
	return func(ctx context.Context, embedding memo.Query) (computed, error) {
		found, err := a.Answerer.Answer(ctx, who.db, question, embedding, listener)
		done := computed{found: found, response: found, dated: found.ReadAs != nil}
		if found.Outcome == answer.Answered || found.Outcome == answer.Abstained {
			kept := found
			kept.Cached = true
			done.kept = kept
		}
		return done, err
	}
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
