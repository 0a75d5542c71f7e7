package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/caarlos0/env/v11"

	"tasklens/internal/chunk"
	"tasklens/internal/openai"
	"tasklens/internal/threshold"
	"tasklens/internal/tokenizer"
	"tasklens/scripts/lab/eval"
)

// mostDollars is the maximum cost of a model check.
const mostDollars = 0.10

// An answer's prompt has at most five chunks of at most 500 tokens plus their headers, and the
// answer is short.
const (
	readByAnAnswer    = 3200
	writtenByAnAnswer = 400
)

// chatDollars are the prices per million tokens, input and output, known in November 2026.
var chatDollars = map[string][2]float64{
	"gpt-4o-mini": {0.15, 0.60}, "gpt-4.1-mini": {0.40, 1.60}, "gpt-4.1-nano": {0.10, 0.40}, "gpt-4o": {2.50, 10},
}

type checkModelConfig struct {
	ServiceURL     string `env:"SERVICE_URL"`
	OpenAIBaseURL  string `env:"OPENAI_BASE_URL"`
	EmbeddingModel string `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	ChatModel      string `env:"CHAT_MODEL" envDefault:"gpt-4o-mini"`
}

// checkModel sends a folder's questions to a running service that has loaded the folder, and prints
// a row for docs/models.md. With --estimate it prints the cost instead, and fails if that is too
// high.
func checkModel(ctx context.Context, args []string) error {
	flags := newFlags("check-model")
	estimated := flags.Bool("estimate", false, "")
	if flags.Parse(args) != nil || flags.NArg() != 1 {
		return errUsage
	}
	config, err := env.ParseAs[checkModelConfig]()
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	folder := flags.Arg(0)
	questions, err := eval.ReadAsked(filepath.Join(folder, "questions.jsonl"))
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	tokens, err := tokenizer.Load()
	if err != nil {
		return err
	}
	loaded, err := tokensToLoad(tokens, folder)
	if err != nil {
		return err
	}
	if *estimated {
		dollars := config.cost(loaded, readByAnAnswer*len(questions), writtenByAnAnswer*len(questions))
		return config.allow(dollars, mostDollars)
	}
	check, err := eval.CheckModel(ctx, eval.Service{URL: config.ServiceURL}, questions)
	if err != nil {
		return err
	}
	check.EmbeddingTokens += loaded
	return check.Print(os.Stdout, config.cost(check.EmbeddingTokens, check.ChatIn, check.ChatOut))
}

// cost returns dollars; negative if a price is unknown.
func (c checkModelConfig) cost(embedded, read, written int) float64 {
	price, known := openai.EmbeddingDollars[c.EmbeddingModel]
	chat, chatKnown := chatDollars[c.ChatModel]
	if !known || !chatKnown {
		return -1
	}
	return (price*float64(embedded) + chat[0]*float64(read) + chat[1]*float64(written)) / 1e6
}

func (c checkModelConfig) allow(dollars, most float64) error {
	switch {
	case dollars < 0 && c.OpenAIBaseURL == "":
		return fmt.Errorf("the prices of %s and %s are unknown: choose models with known prices, see docs/models.md", c.EmbeddingModel, c.ChatModel)
	case dollars < 0:
		fmt.Fprintln(os.Stderr, "The price is unknown: OPENAI_BASE_URL names another provider or another model.")
	case dollars > most:
		return fmt.Errorf("%s and %s would cost about $%.2f, more than $%.2f: choose cheaper models", c.EmbeddingModel, c.ChatModel, dollars, most)
	default:
		fmt.Fprintf(os.Stderr, "Checking %s and %s costs at most about $%.2f.\n", c.EmbeddingModel, c.ChatModel, dollars)
	}
	return nil
}

// tokensToLoad estimates how many tokens of the judged set and a folder are embedded. It counts the
// raw JSON: its punctuation roughly offsets the chunk headers and overlaps, which it ignores.
func tokensToLoad(tokenizer chunk.Tokenizer, folder string) (total int, err error) {
	texts := threshold.Inputs(tokenizer)
	documents, err := filepath.Glob(filepath.Join(folder, eval.DocumentsFolder, "*.md"))
	if err != nil {
		return 0, err
	}
	for _, path := range append(documents, filepath.Join(folder, "projects.jsonl"), filepath.Join(folder, "tickets.jsonl")) {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		total += len(tokenizer.Lengths(text))
	}
	return total, nil
}
