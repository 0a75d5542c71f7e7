package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tasklens/internal/collection"
	"tasklens/internal/filter"
	"tasklens/internal/reembed"
	"tasklens/internal/search"
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
	var queries []collection.Query
	if flags.NArg() == 1 {
		folder, err := filepath.Abs(flags.Arg(0))
		if err != nil {
			return err
		}
		if queries, err = collection.Read(folder); err != nil {
			return err
		}
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
	report, err := calibrate.Measure(ctx, db, model, serving, judgedPairs(queries))
	if err != nil {
		return err
	}
	if err := report.Print(os.Stdout, *precision); err != nil || len(queries) == 0 {
		return err
	}
	return calibrateDuplicates(ctx, db, model, serving, queries, *precision)
}

// calibrateDuplicates fits and stores when a similar ticket is a likely duplicate.
func calibrateDuplicates(ctx context.Context, db search.Database, model search.Model, serving string, queries []collection.Query, precision float64) error {
	comparer, err := newComparer(model)
	if err != nil {
		return err
	}
	compare := func(ctx context.Context, text string, limit int) ([]search.Similar, error) {
		return comparer.ToText(ctx, db, serving, text, nil, filter.Filters{}, limit)
	}
	duplicates, err := calibrate.MeasureDuplicates(ctx, compare, serving, queries, precision)
	if err != nil {
		return err
	}
	if err := duplicates.Store(ctx, db); err != nil {
		return err
	}
	return duplicates.Print(os.Stdout)
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
