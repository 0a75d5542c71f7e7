package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5"

	"tasklens/internal/collection"
	"tasklens/scripts/lab/eval"
)

// evalConfig are the settings of this verb: a running service, and its database for the reference
// rankings.
type evalConfig struct {
	ServiceURL  string `env:"SERVICE_URL,required"`
	DatabaseURL string `env:"DATABASE_URL,required"`
}

// evaluate measures a running service on a loaded collection: its rankings, answers or document
// searches.
func evaluate(ctx context.Context, args []string) error {
	var option string
	if len(args) == 2 {
		option, args = args[0], args[1:]
	}
	if len(args) != 1 || !slices.Contains([]string{"", "--keyword", "--answers", "--documents", "--duplicates"}, option) {
		return errUsage
	}
	config, err := env.ParseAs[evalConfig]()
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	switch option {
	case "--answers":
		return evaluateAnswers(ctx, config, folder)
	case "--documents":
		return evaluateDocuments(ctx, config, folder)
	}
	return evaluateRanking(ctx, config, folder, option)
}

func evaluateAnswers(ctx context.Context, config evalConfig, folder string) error {
	for i, name := range []string{"questions.jsonl", "named_questions.jsonl", "comment_questions.jsonl"} {
		questions, err := eval.ReadAsked(filepath.Join(folder, name))
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // not every collection has questions that name things
		}
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		rates, err := eval.CheckAnswers(ctx, eval.Service{URL: config.ServiceURL}, questions, progress)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Println()
		}
		if err := eval.PrintAnswers(os.Stdout, filepath.Base(folder)+", "+name, rates); err != nil {
			return err
		}
	}
	return nil
}

// evaluateDocuments measures the document searches in their current state, enriched or not.
func evaluateDocuments(ctx context.Context, config evalConfig, folder string) error {
	for i, file := range eval.DocumentQuestions {
		questions, err := eval.ReadDocumentQuestions(folder, file)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		progress("searching documents")
		ranking, err := eval.RankDocuments(ctx, eval.Service{URL: config.ServiceURL}, questions)
		if err != nil {
			return err
		}
		fmt.Println()
		if err := ranking.Print(os.Stdout, filepath.Base(folder)+"/"+file, questions); err != nil {
			return err
		}
	}
	return nil
}

func evaluateRanking(ctx context.Context, config evalConfig, folder, option string) error {
	queries, err := collection.Read(folder)
	if err != nil {
		return err
	}
	connection, err := pgx.Connect(ctx, config.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect to DATABASE_URL: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx))
	service := eval.Service{URL: config.ServiceURL}
	if option == "--duplicates" {
		report, err := eval.CheckDuplicates(ctx, service, connection, queries, progress)
		if err != nil {
			return err
		}
		return report.Print(os.Stdout, filepath.Base(folder))
	}
	report, err := eval.Run{
		Service: service, Connection: connection, Queries: queries, KeywordAlone: option == "--keyword",
		Progress: progress,
	}.Do(ctx)
	if err != nil {
		return err
	}
	return report.Print(os.Stdout, filepath.Base(folder))
}
