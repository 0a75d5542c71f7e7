package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/threshold"
	"tasklens/internal/worker"
)

type embeddingStatus struct {
	worker.Status
	Thresholds []threshold.Fitting `json:"match_thresholds" doc:"The default threshold, for each width of the embedding model's vectors."`
}

// embeddingStatus reports how far the embeddings are behind the texts.
func (a *API) embeddingStatus(c *fiber.Ctx, _ *nothing) (response embeddingStatus, err error) {
	db, err := a.database(c)
	if err != nil {
		return response, err
	}
	response.Status, err = worker.ReadStatus(c.UserContext(), db, a.EmbeddingModel)
	response.Thresholds = a.thresholds(c.UserContext())
	return response, err
}
