package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5"

	"tasklens/server/eval"
)

// evalConfig are the settings of this verb: a running service, and its database, which the reference rankings read.
type evalConfig struct {
	ServiceURL  string `env:"SERVICE_URL,required"`
	DatabaseURL string `env:"DATABASE_URL,required"`
}

// evaluate measures the ranking of a running service by a collection that it has loaded.
func evaluate(ctx context.Context, args []string) error {
	keywordAlone := len(args) == 2 && args[0] == "--keyword"
	if len(args) != 1 && !keywordAlone {
		return errUsage
	}
	config, err := env.ParseAs[evalConfig]()
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	folder, err := filepath.Abs(args[len(args)-1])
	if err != nil {
		return err
	}
	queries, err := eval.ReadQueries(folder)
	if err != nil {
		return err
	}
	connection, err := pgx.Connect(ctx, config.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect to DATABASE_URL: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx))
	report, err := eval.Run{
		Service: eval.Service{URL: config.ServiceURL}, Connection: connection, Queries: queries, KeywordAlone: keywordAlone,
		Progress: func(step string) { fmt.Fprintln(os.Stderr, step, "…") },
	}.Do(ctx)
	if err != nil {
		return err
	}
	return report.Print(os.Stdout, filepath.Base(folder))
}
