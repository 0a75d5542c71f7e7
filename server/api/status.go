package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/worker"
)

// embeddingStatus says how far what is searched by meaning is in step with the texts.
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
	return c.JSON(status)
}
