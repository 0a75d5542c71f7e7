package api

import (
	"context"

	"tasklens/internal/reembed"
	"tasklens/internal/threshold"
	"tasklens/internal/worker"
)

type embeddingStatus struct {
	worker.Status
	Thresholds []threshold.Fitting `json:"match_thresholds" doc:"The default thresholds."`
}

// embeddingStatus reports how far the embeddings are behind the texts.
func (a *API) embeddingStatus(ctx context.Context, who *caller, _ *nothing) (response embeddingStatus, err error) {
	if response.Status, err = worker.ReadStatus(ctx, who.db, a.EmbeddingModel); err != nil {
		return response, err
	}
	sets, err := reembed.Read(ctx, who.db)
	for _, width := range threshold.Widths {
		response.Thresholds = append(response.Thresholds, threshold.Of(sets.Models(a.EmbeddingModel)[0], width, a.MatchThreshold, sets.Thresholds))
	}
	return response, err
}
