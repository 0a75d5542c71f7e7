package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/threshold"
	"tasklens/internal/worker"
)

type statusResponse struct {
	worker.Status
	Thresholds []threshold.Fitting `json:"match_thresholds"`
}

// embeddingStatus reports how far the embeddings are behind the texts.
func (a *API) embeddingStatus(c *fiber.Ctx) error {
	if err := noParameters(c); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	status, err := worker.ReadStatus(c.UserContext(), db, a.EmbeddingModel)
	if err != nil {
		return err
	}
	return c.JSON(statusResponse{status, a.thresholds(c.UserContext())})
}
