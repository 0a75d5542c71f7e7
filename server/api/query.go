package api

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
	"tasklens/internal/filter"
	"tasklens/internal/memo"
	"tasklens/internal/postgrest"
)

const (
	defaultTopK   = 5
	defaultLambda = 0.5
)

// The values of "retrieval".
const (
	retrievalVector = "vector"
	retrievalHybrid = "hybrid"
)

type queryRequest struct {
	Question       string         `json:"question"`
	ProjectID      *int64         `json:"project_id"`
	StatusFilter   *string        `json:"status_filter"`
	Filters        filter.Filters `json:"filters" default:""`
	Corpus         *string        `json:"corpus"`
	TopK           *int           `json:"top_k"`
	MatchThreshold *float64       `json:"match_threshold"`
	MMRLambda      *float64       `json:"mmr_lambda"`
	Retrieval      *string        `json:"retrieval"`
	Stream         *bool          `json:"stream"`
}

func (r *queryRequest) check(wrong report) {
	checkText(wrong, "question", &r.Question)
	checkID(wrong, "project_id", r.ProjectID)
	checkStatus(wrong, r.StatusFilter)
	corpus := answer.Corpus(or(r.Corpus, string(answer.Tickets)))
	wrong(corpus != answer.Tickets && corpus != answer.Documents && corpus != answer.All, "corpus", "must be \"tickets\", \"documents\" or \"all\"")
	wrong(corpus == answer.Documents && r.ProjectID != nil, "project_id", "must be left out where only documents are asked")
	wrong(corpus == answer.Documents && r.StatusFilter != nil, "status_filter", "must be left out where only documents are asked")
	wrong(corpus == answer.Documents && !r.Filters.IsZero(), "filters", "must be left out where only documents are asked")
	checkRange(wrong, "top_k", r.TopK, 1, maxTopK)
	checkUnit(wrong, "match_threshold", r.MatchThreshold)
	checkUnit(wrong, "mmr_lambda", r.MMRLambda)
	retrieval := or(r.Retrieval, retrievalVector)
	wrong(retrieval != retrievalVector && retrieval != retrievalHybrid, "retrieval", "must be \"vector\" or \"hybrid\"")
	wrong(retrieval == retrievalHybrid && corpus != answer.Tickets, "retrieval", "must be \"vector\" where documents are asked")
}

// documentsVersion is the project id that stands for all documents; see data_version in the
// database.
var documentsVersion int64 = -1

type queryResponse struct {
	Answer         string          `json:"answer"`
	Sources        []answer.Source `json:"sources"`
	LowSimilarity  bool            `json:"low_similarity"`
	BestSimilarity *float64        `json:"best_similarity"`
	MatchThreshold float64         `json:"match_threshold"`
	Cached         bool            `json:"cached"`
	Model          string          `json:"model"`
}

func newQueryResponse(found answer.Answer, question answer.Question) queryResponse {
	return queryResponse{
		MatchThreshold: question.MatchThreshold,
		Answer:         found.Text, Sources: found.Sources, LowSimilarity: found.LowSimilarity, BestSimilarity: found.BestSimilarity, Model: found.Model,
	}
}

// query answers a question from tickets and documents, as one response or as a stream.
func (a *API) query(c *fiber.Ctx) error {
	var request queryRequest
	if err := readRequest(c, &request); err != nil {
		return err
	}
	if err := checkMe(c, request.Filters); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	question := answer.Question{
		Text: request.Question, Corpus: answer.Corpus(or(request.Corpus, string(answer.Tickets))), ProjectID: request.ProjectID, StatusFilter: request.StatusFilter,
		Filters: request.Filters,
		TopK:    or(request.TopK, defaultTopK),
		Lambda:  or(request.MMRLambda, defaultLambda), Hybrid: or(request.Retrieval, retrievalVector) == retrievalHybrid,
	}
	question.MatchThreshold = or(request.MatchThreshold, a.usualThreshold(c.UserContext(), question.Corpus))
	started := time.Now()
	keyed := question
	keyed.Filters = question.Filters.Folded()
	whole := a.newAsked(c, "query", question.Text, question.ProjectID, keyed)
	whole.serving = a.servingOf(question.Corpus)
	switch {
	case question.Corpus == answer.Documents:
		whole.Project = &documentsVersion
	case question.Corpus == answer.All || question.Hybrid:
		whole.Project = nil // words weigh by how rare they are in all projects; documents belong to none
	}
	if or(request.Stream, false) || acceptsEvents(c) {
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
		response := newQueryResponse(found, question)
		kept := response
		kept.Cached = true
		return encodeResponse(response, kept, found.Outcome == answer.Answered || found.Outcome == answer.Abstained, found)
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
