package api

import (
	"context"

	"tasklens/internal/answer"
	"tasklens/internal/threshold"
	"tasklens/internal/vector"
)

// usualThreshold is the cosine similarity that a text must exceed where a request names none.
func (a *API) usualThreshold(ctx context.Context, corpus answer.Corpus) float64 {
	model := a.EmbeddingModel
	if corpus != answer.Documents { // which are embedded by the configured model
		model = a.servingModel(ctx)
	}
	width := vector.Dimensions
	if corpus == answer.Documents || corpus == answer.All {
		width = vector.ShortDimensions
	}
	return threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()).Threshold
}

// usualDocumentThreshold is that of a search for documents that names none: documentThreshold, or what
// was measured where that is lower, as with some models 0.3 hides half of what is asked for.
func (a *API) usualDocumentThreshold(ctx context.Context) float64 {
	_ = a.servingModel(ctx) // so that what was measured is known
	return min(documentThreshold, threshold.Of(a.EmbeddingModel, vector.ShortDimensions, nil, a.Serving.Measured()).Threshold)
}

// thresholds are those of the serving model, at every width.
func (a *API) thresholds(ctx context.Context) (all []threshold.Fitting) {
	model := a.servingModel(ctx)
	for _, width := range threshold.Widths {
		all = append(all, threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()))
	}
	return all
}

// servingModel is the last known one. Where none is known yet, the request fails for that, whatever its threshold.
func (a *API) servingModel(ctx context.Context) string {
	if _, model, _ := a.Serving.Last(ctx); model != "" {
		return model
	}
	return a.EmbeddingModel
}
