package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/enrich"
)

// defaultEnrichBatch is the default number of documents in a batch.
const defaultEnrichBatch = 10

type enrichRequest struct {
	BatchSize *int `json:"batch_size"`
}

func (r *enrichRequest) check(wrong report) {
	checkRange(wrong, "batch_size", r.BatchSize, 1, enrich.MaxBatch)
}

// enrichBatch enriches the documents that are due. Failures of single documents are in the
// report; it fails only if nothing could be done.
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
