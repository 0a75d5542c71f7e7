package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"tasklens/internal/reembed"
	"tasklens/internal/rpc"
	"tasklens/internal/threshold"
	"tasklens/internal/tokenizer"
	"tasklens/internal/wait"
)

// thresholdPoll is the interval between checks for models in use.
const thresholdPoll = time.Minute

// keepThresholds measures the model in use, and one about to be used, unless already measured.
// Until then the documented thresholds apply.
func keepThresholds(ctx context.Context, db rpc.Caller, model threshold.Model, configured string, log *slog.Logger) {
	for ; ctx.Err() == nil; _ = wait.For(ctx, thresholdPoll) {
		measured, err := measureThresholds(ctx, db, model, configured)
		for _, m := range measured {
			log.InfoContext(ctx, "threshold measured", "model", m.Model, "dimensions", m.Dimensions, "match_threshold", m.Threshold,
				"right_over", m.RightOver, "unrelated_over", m.UnrelatedOver)
		}
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the fitting threshold could not be measured", "error", err, "again", thresholdPoll)
		}
	}
}

// measureThresholds measures the models in use that are not measured yet.
func measureThresholds(ctx context.Context, db rpc.Caller, model threshold.Model, configured string) ([]threshold.Measured, error) {
	sets, err := reembed.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	return threshold.MeasureMissing(ctx, db, model, tokenizer.Load(), sets.Models(configured), sets.Thresholds)
}

// fitThreshold measures the model just used for embedding, so that the first search already has a
// fitting threshold. If it fails, the service retries.
func (e embedding) fitThreshold(ctx context.Context) {
	if e.config.MatchThreshold != nil {
		return
	}
	if _, err := measureThresholds(ctx, e.db, e.model, e.config.storedModel()); err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "warning: the threshold that fits the model is not measured yet; the service will try again: %v\n", err)
	}
}
