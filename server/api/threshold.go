package api

import (
	"context"

	"tasklens/internal/answer"
	"tasklens/internal/reembed"
	"tasklens/internal/threshold"
	"tasklens/internal/vector"
)

// usualThreshold is the cosine similarity that a text must exceed where a request names none.
func (a *API) usualThreshold(ctx context.Context, corpus answer.Corpus) float64 {
	model := a.lastModel(ctx, corpus)
	width := vector.Dimensions
	if corpus == answer.Documents || corpus == answer.All {
		width = vector.ShortDimensions
	}
	return threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()).Threshold
}

// thresholds are those of the serving model, at every width.
func (a *API) thresholds(ctx context.Context) (all []threshold.Fitting) {
	model := a.lastModel(ctx, answer.Tickets)
	for _, width := range threshold.Widths {
		all = append(all, threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()))
	}
	return all
}

// servingOf knows by which model a corpus is embedded: documents always by the configured one.
func (a *API) servingOf(corpus answer.Corpus) *reembed.Serving {
	if corpus == answer.Documents {
		return reembed.Fixed(a.EmbeddingModel)
	}
	return a.Serving
}

// lastModel is the last known one of a corpus. Where none is known yet, no text is compared,
// whatever its threshold.
func (a *API) lastModel(ctx context.Context, corpus answer.Corpus) string {
	model, err := a.servingOf(corpus).Last(ctx)
	if err != nil {
		return a.EmbeddingModel
	}
	return model
}
