package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tasklens/internal/collection"
	"tasklens/internal/reembed"
	"tasklens/server/calibrate"
)

// calibrateThreshold prints the threshold that best separates related from unrelated texts in the
// user's data.
func calibrateThreshold(ctx context.Context, args []string) error {
	flags := newFlags("calibrate")
	precision := flags.Float64("precision", 0.9, "")
	if flags.Parse(args) != nil || flags.NArg() > 1 || !(*precision > 0 && *precision <= 1) {
		return errUsage
	}
	config, err := readConfig()
	if err != nil {
		return err
	}
	var pairs []calibrate.Pair
	if flags.NArg() == 1 {
		folder, err := filepath.Abs(flags.Arg(0))
		if err != nil {
			return err
		}
		queries, err := collection.Read(folder)
		if err != nil {
			return err
		}
		pairs = judgedPairs(queries)
	}
	db, model := newDatabase(config).AsService(), newModel(config)
	serving, err := reembed.NewServing(db, config.storedModel()).Use(ctx)
	if err != nil {
		return err
	}
	if _, err := measureThresholds(ctx, db, model, config.storedModel()); err != nil {
		return err
	}
	sets, err := reembed.Read(ctx, db)
	if err != nil {
		return err
	}
	if err := printThresholds(os.Stdout, sets.Models(config.storedModel()), sets.Thresholds); err != nil {
		return err
	}
	report, err := calibrate.Measure(ctx, db, model, serving, pairs)
	if err != nil {
		return err
	}
	return report.Print(os.Stdout, *precision)
}

// judgedPairs returns the pairs in a fixed order, so that repeated runs measure the same ones.
func judgedPairs(queries []collection.Query) (pairs []calibrate.Pair) {
	for _, q := range queries {
		for _, key := range slices.Sorted(maps.Keys(q.Judged)) {
			pairs = append(pairs, calibrate.Pair{Query: q.Text, TicketKey: key})
		}
	}
	return pairs
}
