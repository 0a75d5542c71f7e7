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

// mostDollars is what checking a model may cost.
const mostDollars = 0.10

// A question's answer reads at most five chunks of at most 500 tokens and what is said of them, and
// is short.
const (
	readByAnAnswer    = 3200
	writtenByAnAnswer = 400
)

// chatDollars a million tokens, read and written.
var chatDollars = map[string][2]float64{
	"gpt-4o-mini": {0.15, 0.60}, "gpt-4.1-mini": {0.40, 1.60}, "gpt-4.1-nano": {0.10, 0.40}, "gpt-4o": {2.50, 10},
}

type checkModelConfig struct {
	ServiceURL     string `env:"SERVICE_URL"`
	OpenAIBaseURL  string `env:"OPENAI_BASE_URL"`
	EmbeddingModel string `env:"EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`
	ChatModel      string `env:"CHAT_MODEL" envDefault:"gpt-4o-mini"`
}

// checkModel asks a running service, which has loaded a folder, the folder's questions, and prints
// a line of docs/models.md. With --estimate it says what that costs, and refuses what costs too
// much.
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
		return config.allow(dollars)
	}
	check, err := eval.CheckModel(ctx, eval.Service{URL: config.ServiceURL}, questions)
	if err != nil {
		return err
	}
	check.EmbeddingTokens += loaded
	return check.Print(os.Stdout, config.cost(check.EmbeddingTokens, check.ChatIn, check.ChatOut))
}

// cost is in dollars, below 0 where a price is not known.
func (c checkModelConfig) cost(embedded, read, written int) float64 {
	price, known := openai.EmbeddingDollars[c.EmbeddingModel]
	chat, chatKnown := chatDollars[c.ChatModel]
	if !known || !chatKnown {
		return -1
	}
	return (price*float64(embedded) + chat[0]*float64(read) + chat[1]*float64(written)) / 1e6
}

func (c checkModelConfig) allow(dollars float64) error {
	switch {
	case dollars < 0 && c.OpenAIBaseURL == "":
		return fmt.Errorf("the prices of %s and %s are not known here: choose models whose prices are, see docs/models.md", c.EmbeddingModel, c.ChatModel)
	case dollars < 0:
		fmt.Fprintln(os.Stderr, "The price is not known: OPENAI_BASE_URL names another provider or another model.")
	case dollars > mostDollars:
		return fmt.Errorf("%s and %s would cost about $%.2f, more than $%.2f: choose cheaper models", c.EmbeddingModel, c.ChatModel, dollars, mostDollars)
	default:
		fmt.Fprintf(os.Stderr, "Checking %s and %s costs at most about $%.2f.\n", c.EmbeddingModel, c.ChatModel, dollars)
	}
	return nil
}

// tokensToLoad is about how many tokens of the judged set and a folder are embedded: the names that
// stand before each chunk and the overlaps about make up for the marks of JSON, which are not.
func tokensToLoad(tokenizer chunk.Tokenizer, folder string) (total int, err error) {
	texts, err := threshold.Inputs(tokenizer)
	if err != nil {
		return 0, err
	}
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
