package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/answer"
)

const (
	defaultTopK   = 5
	defaultLambda = 0.5
)

type queryRequest struct {
	Question       string   `json:"question"`
	ProjectID      *int64   `json:"project_id"`
	StatusFilter   *string  `json:"status_filter"`
	Corpus         *string  `json:"corpus"`
	TopK           *int     `json:"top_k"`
	MatchThreshold *float64 `json:"match_threshold"`
	MMRLambda      *float64 `json:"mmr_lambda"`
	Retrieval      *string  `json:"retrieval"`
	Stream         *bool    `json:"stream"`
}

func (r *queryRequest) check(wrong report) {
	checkText(wrong, "question", &r.Question)
	checkID(wrong, "project_id", r.ProjectID)
	checkStatus(wrong, r.StatusFilter)
	wrong(or(r.Corpus, "tickets") != "tickets", "corpus", "must be \"tickets\"")
	checkRange(wrong, "top_k", r.TopK, 1, maxTopK)
	checkUnit(wrong, "match_threshold", r.MatchThreshold)
	checkUnit(wrong, "mmr_lambda", r.MMRLambda)
	wrong(or(r.Retrieval, "vector") != "vector", "retrieval", "must be \"vector\"")
	wrong(or(r.Stream, false), "stream", "must be false: answers are not streamed yet")
}

type queryResponse struct {
	Answer         string          `json:"answer"`
	Sources        []answer.Source `json:"sources"`
	LowSimilarity  bool            `json:"low_similarity"`
	BestSimilarity *float64        `json:"best_similarity"`
	Cached         bool            `json:"cached"`
	Model          string          `json:"model"`
}

// query answers a question from the tracker's texts.
func (a *API) query(c *fiber.Ctx) error {
	var request queryRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	found, err := a.Answerer.Answer(c.UserContext(), db, answer.Question{
		Text: request.Question, ProjectID: request.ProjectID, StatusFilter: request.StatusFilter,
		TopK: or(request.TopK, defaultTopK), MatchThreshold: or(request.MatchThreshold, a.MatchThreshold),
		Lambda: or(request.MMRLambda, defaultLambda),
	})
	if err != nil {
		return err
	}
	return c.JSON(queryResponse{
		Answer: found.Text, Sources: found.Sources, LowSimilarity: found.LowSimilarity, BestSimilarity: found.BestSimilarity, Model: found.Model,
	})
}
