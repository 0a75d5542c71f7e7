package api

import (
	"context"

	"tasklens/internal/threshold"
	"tasklens/internal/worker"
)

type embeddingStatus struct {
	worker.Status
	Thresholds []threshold.Fitting `json:"match_thresholds" doc:"The default thresholds."`
}

// embeddingStatus reports how far the embeddings are behind the texts.
func (a *API) embeddingStatus(ctx context.Context, who *caller, _ *nothing) (response embeddingStatus, err error) {
	response.Status, err = worker.ReadStatus(ctx, who.db, a.EmbeddingModel)
	response.Thresholds = a.thresholds(ctx)
	return response, err
}
