package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tasklens/internal/answer"
	"tasklens/internal/chat"
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

// checkModel sends a folder's questions to a running service that has loaded the folder, and prints
// a row for docs/models.md. With --estimate it prints the cost instead, and fails if that is too
// high.
func checkModel(ctx context.Context, config settings, args []string) error {
	flags := newFlags("check-model")
	estimated := flags.Bool("estimate", false, "")
	most := flags.Duration("most", asking, "")
	if flags.Parse(args) != nil || flags.NArg() != 1 {
		return errUsage
	}
	folder := flags.Arg(0)
	questions, err := eval.ReadAsked(filepath.Join(folder, "questions.jsonl"))
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	paraphrases, err := eval.ReadAsked(filepath.Join(folder, eval.ParaphrasesFile))
	if err != nil {
		return fmt.Errorf("read paraphrases: %w", err)
	}
	loaded, err := tokensToLoad(tokenizer.Load(), folder)
	if err != nil {
		return err
	}
	if *estimated {
		dollars := config.cost(loaded, readByAnAnswer*len(questions), writtenByAnAnswer*len(questions))
		return config.allow(dollars, mostDollars)
	}
	progress("trying the protocol") // first, because it shows at once what is wrong with a setting
	config.probe(ctx, os.Stdout, threshold.Inputs(tokenizer.Load()))
	check, err := eval.CheckModel(ctx, eval.Service{URL: config.ServiceURL}, questions, paraphrases, *most, progress)
	if err != nil {
		return err
	}
	check.EmbeddingTokens += loaded
	return check.Print(os.Stdout, config.cost(check.EmbeddingTokens, check.ChatIn, check.ChatOut))
}

// asking is how long a model check asks questions, if not told: a slow server answers fewer in it.
const asking = 30 * time.Minute

// probed are the inputs of the largest request, and a text of about as many tokens as a chunk and
// its header have at most.
const probed = 64

var longChunk = strings.Repeat("The pump of the second line leaks at its valve. ", 51)

// probe sends the server one request of each kind and prints how it departs from OpenAI's protocol.
func (c settings) probe(ctx context.Context, out io.Writer, inputs []string) {
	departures := 0
	print := func(format string, args ...any) {
		departures++
		fmt.Fprintf(out, "- "+format+"\n", args...)
	}
	client := openai.New(openai.Config{
		BaseURL: cmp.Or(c.OpenAIBaseURL, "https://api.openai.com/v1"), APIKey: c.OpenAIKey, EmbeddingModel: c.EmbeddingModel, ChatModel: c.ChatModel,
		AttemptTimeout: 10 * time.Minute, Notice: func(message string, args ...any) { print("%s: %v", message, args) },
	})
	fmt.Fprintln(out, "How the server departs from OpenAI's protocol:")
	if _, _, err := client.Embed(ctx, c.EmbeddingModel, inputs[:probed]); err != nil {
		print("it fails: %v", err)
	}
	vectors, cut, err := client.Embed(ctx, c.EmbeddingModel, []string{longChunk, longChunk + "Invoices are paid late."})
	switch {
	case err != nil:
		print("it fails with a chunk of 500 tokens: %v", err)
	case len(cut) > 0:
		print("the embedding model does not take a chunk of 500 tokens whole: longer ones are embedded without their end")
	case slices.Equal(vectors[0], vectors[1]):
		print("the server leaves out the end of a chunk of 500 tokens in silence, and the status does not count it")
	}
	const instructions, question = "Answer in JSON.", `What is the color of the sky? Answer {"color": "…"}.`
	said, err := client.Complete(ctx, chat.Request{Instructions: instructions, Message: question, MaxTokens: probeTokens})
	if err != nil {
		print("it fails: %v", err)
	}
	if said.Thought {
		print("the chat model thinks before it answers: set ANSWER_TOKENS to some thousand")
	}
	if _, err := client.Stream(ctx, chat.Request{Instructions: instructions, Message: question, MaxTokens: probeTokens}, func(string) error { return nil }); err != nil {
		print("it fails with a stream: %v", err)
	}
	said, err = client.Complete(ctx, chat.Request{Instructions: "Call the tool.", Message: "How many bugs are open?", MaxTokens: probeTokens, Tool: &answer.Tool})
	if err != nil {
		print("it fails with a tool: %v", err)
	} else if _, err := answer.ReadCall(said.Call, time.UTC); err != nil {
		print("the chat model does not call its tool as it is described: questions get no counts and lists of tickets")
	}
	said, err = client.CompleteJSON(ctx, instructions, question, probeTokens, color)
	if err != nil {
		print("it fails with JSON: %v", err)
	} else if !json.Valid([]byte(said.Text)) {
		print("the chat model writes no JSON: documents are not enriched")
	}
	if departures == 0 {
		fmt.Fprintln(out, "- in nothing that the service uses")
	}
	fmt.Fprintln(out)
}

const probeTokens = 800

var color = chat.Schema{Name: "color", Description: "A color.", JSON: map[string]any{
	"type": "object", "properties": map[string]any{"color": map[string]any{"type": "string"}}, "required": []string{"color"}, "additionalProperties": false,
}}

// cost returns dollars; negative if a price is unknown.
func (c settings) cost(embedded, read, written int) float64 {
	price, known := openai.EmbeddingDollars[c.EmbeddingModel]
	chat, chatKnown := chatDollars[c.ChatModel]
	if !known || !chatKnown {
		return -1
	}
	return (price*float64(embedded) + chat[0]*float64(read) + chat[1]*float64(written)) / 1e6
}

func (c settings) allow(dollars, most float64) error {
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
