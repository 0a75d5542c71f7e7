package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/enrich"
)

// defaultEnrichBatch is how many documents a batch takes that does not say how many.
const defaultEnrichBatch = 10

type enrichRequest struct {
	BatchSize *int `json:"batch_size"`
}

func (r *enrichRequest) check(wrong report) {
	checkRange(wrong, "batch_size", r.BatchSize, 1, enrich.MaxBatch)
}

// enrichBatch has the model read documents that are due. What failed for one of them is in the
// report; a batch that could not do anything is a failure itself.
func (a *API) enrichBatch(c *fiber.Ctx) error {
	var request enrichRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	report, err := a.Enricher.Batch(c.UserContext(), db, or(request.BatchSize, defaultEnrichBatch))
	if err != nil && report.Processed == 0 {
		return err
	}
	return c.JSON(report)
}

func (a *API) enrichStats(c *fiber.Ctx) error {
	if err := noParameters(c); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	stats, err := enrich.ReadStats(c.UserContext(), db)
	if err != nil {
		return err
	}
	return c.JSON(stats)
}
