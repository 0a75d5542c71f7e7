package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tasklens/internal/answer"
	"tasklens/internal/memo"
	"tasklens/internal/openai"
	"tasklens/internal/postgrest"
	"tasklens/internal/search"
	"tasklens/scripts/lab/eval"
)

// evaluate measures a running service on a loaded collection, or compares two results.
func evaluate(ctx context.Context, config settings, args []string) error {
	if len(args) == 3 && args[0] == "--compare" {
		return compareResults(args[1], args[2])
	}
	var option string
	if len(args) == 2 {
		option, args = args[0], args[1:]
	}
	if len(args) != 1 || !slices.Contains([]string{"", "--documents", "--questions"}, option) {
		return errUsage
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if config.DatabaseURL == "" {
		return errNoDatabase
	}
	connection, err := pgx.Connect(ctx, config.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect to DATABASE_URL: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx))
	e := evaluation{
		service: eval.Service{URL: config.ServiceURL}, connection: connection, folder: folder,
		result: eval.Result{To: os.Stdout, Collection: filepath.Base(folder)},
	}
	switch option {
	case "--documents":
		return e.documents(ctx)
	case "--questions":
		return aboutFields(ctx, config, folder)
	}
	return e.everything(ctx)
}

// aboutFields asks a folder's questions about fields within this process, which can be told what
// day it is, and prints the rates of each half.
func aboutFields(ctx context.Context, c settings, folder string) error {
	questions, err := eval.ReadFieldQuestions(folder)
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	model := openai.New(openai.Config{BaseURL: cmp.Or(c.OpenAIBaseURL, "https://api.openai.com/v1"), APIKey: c.OpenAIKey, EmbeddingModel: c.EmbeddingModel, Dimensions: c.Dimensions, ChatModel: c.ChatModel,
		AttemptTimeout: time.Minute})
	embeddings := memo.NewEmbeddings(model, nil, nil)
	embed := func(text string) search.Embedding { return embeddings.Query(model.EmbeddingModel(), text) }
	database := postgrest.New(cmp.Or(c.RESTURL, c.SupabaseURL+"/rest/v1"), c.Key, c.Schema).AsService()
	for _, half := range eval.Halves {
		rates, err := eval.CheckFields(ctx, answer.New(model, answer.Options{}), database, embed, questions, half, progress)
		if err != nil {
			return err
		}
		rates.Print(os.Stdout, half)
	}
	return nil
}

func compareResults(before, after string) error {
	a, err := os.ReadFile(before)
	b, other := os.ReadFile(after)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	return eval.Compare(os.Stdout, bytes.NewReader(a), bytes.NewReader(b))
}

// evaluation measures what a folder has judgements or questions for.
type evaluation struct {
	service    eval.Service
	connection *pgx.Conn
	folder     string
	result     eval.Result
}

func (e evaluation) everything(ctx context.Context) error {
	if err := e.result.Contents(ctx, e.connection); err != nil {
		return err
	}
	var queries []eval.Query
	for _, file := range []string{"questions.jsonl", "named_questions.jsonl", "comment_questions.jsonl", "field_questions.jsonl"} {
		questions, err := eval.ReadAsked(filepath.Join(e.folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		rates, err := eval.CheckAnswers(ctx, e.service, questions, progress)
		if err != nil {
			return err
		}
		if err := e.result.Answers(file, rates); err != nil {
			return err
		}
		cited, err := eval.Queries(ctx, e.service, questions)
		if err != nil {
			return err
		}
		queries = append(queries, cited...)
	}
	if err := e.paraphrases(ctx); err != nil {
		return err
	}
	// A collection's own judgements are better than what its questions should cite.
	judged, err := eval.ReadQueries(e.folder)
	if err == nil {
		queries = judged
	} else if !errors.Is(err, fs.ErrNotExist) || len(queries) == 0 {
		return err
	}
	rows, err := eval.Run{Service: e.service, Connection: e.connection, Queries: queries, Progress: progress}.Do(ctx)
	if err != nil {
		return err
	}
	if err := e.result.Rankings(rows, queries); err != nil {
		return err
	}
	return e.documents(ctx)
}

func (e evaluation) paraphrases(ctx context.Context) error {
	questions, err := eval.ReadAsked(filepath.Join(e.folder, eval.ParaphrasesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read paraphrases: %w", err)
	}
	found, err := eval.CheckParaphrases(ctx, e.service, questions)
	if err != nil {
		return err
	}
	return e.result.Paraphrases(found)
}

// documents measures the document searches in their current state, enriched or not.
func (e evaluation) documents(ctx context.Context) error {
	for _, file := range eval.DocumentQuestions {
		questions, err := eval.ReadDocumentQuestions(e.folder, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		progress("searching documents")
		rows, err := eval.RankDocuments(ctx, e.service, questions)
		if err != nil {
			return err
		}
		if err := e.result.Documents(ctx, e.service, file, rows); err != nil {
			return err
		}
	}
	return nil
}
