package api

import (
	"context"

	"tasklens/internal/answer"
	"tasklens/internal/reembed"
	"tasklens/internal/threshold"
	"tasklens/internal/vector"
)

// usualThreshold is the default similarity that a text must exceed.
func (a *API) usualThreshold(ctx context.Context, corpus answer.Corpus) float64 {
	model := a.lastModel(ctx, corpus)
	width := vector.Dimensions
	if corpus == answer.Documents || corpus == answer.All {
		width = vector.ShortDimensions
	}
	return threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()).Threshold
}

// thresholds are those of the serving model, by vector width.
func (a *API) thresholds(ctx context.Context) (all []threshold.Fitting) {
	model := a.lastModel(ctx, answer.Tickets)
	for _, width := range threshold.Widths {
		all = append(all, threshold.Of(model, width, a.MatchThreshold, a.Serving.Measured()))
	}
	return all
}

// servingOf returns the serving model of a corpus. Documents always use the configured one.
func (a *API) servingOf(corpus answer.Corpus) *reembed.Serving {
	if corpus == answer.Documents {
		return reembed.Fixed(a.EmbeddingModel)
	}
	return a.Serving
}

// lastModel returns the last known model of a corpus. If none is known yet, nothing is compared,
// and the threshold does not matter.
func (a *API) lastModel(ctx context.Context, corpus answer.Corpus) string {
	model, err := a.servingOf(corpus).Last(ctx)
	if err != nil {
		return a.EmbeddingModel
	}
	return model
}
