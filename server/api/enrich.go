package api

import (
	"context"

	"tasklens/internal/enrich"
)

type enrichRequest struct {
	BatchSize int `json:"batch_size" min:"1" max:"100" default:"10"`
}

// enrichBatch enriches the documents that are due. Failures of single documents are in the
// report; it fails only if nothing could be done.
func (a *API) enrichBatch(ctx context.Context, who *caller, request *enrichRequest) (enrich.Report, error) {
	report, err := a.Enricher.Batch(ctx, who.db, request.BatchSize)
	if err != nil && report.Processed > 0 {
		err = nil
	}
	return report, err
}

func (a *API) enrichStats(ctx context.Context, who *caller, _ *nothing) (enrich.Stats, error) {
	return enrich.ReadStats(ctx, who.db)
}
