package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/enrich"
)

// defaultEnrichBatch is the default number of documents in a batch.
const defaultEnrichBatch = 10

type enrichRequest struct {
	BatchSize *int `json:"batch_size" min:"1" max:"100" doc:"The most documents of this batch; 10 by default."`
}

// enrichBatch enriches the documents that are due. Failures of single documents are in the
// report; it fails only if nothing could be done.
func (a *API) enrichBatch(c *fiber.Ctx, request *enrichRequest) (enrich.Report, error) {
	db, err := a.database(c)
	if err != nil {
		return enrich.Report{}, err
	}
	report, err := a.Enricher.Batch(c.UserContext(), db, or(request.BatchSize, defaultEnrichBatch))
	if err != nil && report.Processed > 0 {
		err = nil
	}
	return report, err
}

func (a *API) enrichStats(c *fiber.Ctx, _ *nothing) (enrich.Stats, error) {
	db, err := a.database(c)
	if err != nil {
		return enrich.Stats{}, err
	}
	return enrich.ReadStats(c.UserContext(), db)
}
