package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"tasklens/internal/chat"
)

// Complete sends instructions (the system message) and message (the user message) to the chat model
// and requests at most maxTokens tokens. A refusal is returned as the text.
func (c *Client) Complete(ctx context.Context, instructions, message string, maxTokens int) (chat.Completion, error) {
	return c.complete(ctx, c.chatParams(instructions, message, maxTokens))
}

// CompleteJSON is Complete for an answer in JSON of a schema. A compatible server may ignore the
// schema, so the caller must validate the text. It is never retried here: the caller counts
// requests and retries later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error) {
	question := c.chatParams(instructions, message, maxTokens)
	question.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: schema.Name, Description: openai.String(schema.Description), Strict: openai.Bool(true), Schema: schema.JSON,
	}}
	return c.complete(ctx, question, option.WithMaxRetries(0))
}

func (c *Client) complete(ctx context.Context, question openai.ChatCompletionNewParams, options ...option.RequestOption) (chat.Completion, error) {
	return c.ask(ctx, func(ctx context.Context) (chat.Completion, error) {
		response, err := c.api.Chat.Completions.New(ctx, question, options...)
		if err != nil {
			return chat.Completion{}, c.failure(ctx, err)
		}
		if response == nil || len(response.Choices) == 0 { // nil: the body is null
			return chat.Completion{}, unusable("gave no answer")
		}
		choice := response.Choices[0]
		said := chat.Completion{
			Text: choice.Message.Content, Refused: choice.Message.Refusal != "", Model: response.Model, Finish: choice.FinishReason,
			TokensIn: tokens(response.Usage.PromptTokens), TokensOut: tokens(response.Usage.CompletionTokens),
		}
		if said.Text == "" {
			said.Text = choice.Message.Refusal
		}
		if said.Text == "" && said.Finish == "" {
			return chat.Completion{}, unusable("gave no answer")
		}
		return said, nil
	})
}

// ask calls the chat model.
func (c *Client) ask(ctx context.Context, call func(context.Context) (chat.Completion, error)) (chat.Completion, error) {
	said, err := c.call(ctx, c.chatting, c.chatModel, call)
	if err != nil {
		return said, fmt.Errorf("ask the chat model: %w", err)
	}
	return said, nil
}

func (c *Client) chatParams(instructions, message string, maxTokens int) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:               c.chatModel,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(message)},
		MaxCompletionTokens: openai.Int(int64(maxTokens)),
	}
}

// errListener marks an error of the receiving side of a stream. It does not count against the
// provider.
var errListener = errors.New("tell a piece of the answer")

// errSilent marks a stream that sent no event for as long as an attempt may take.
var errSilent = fmt.Errorf("the stream is silent: %w", context.DeadlineExceeded)

// Stream is Complete with the text passed to tell piece by piece. An error from tell cancels the
// request; see chat.ErrEnough. Stream returns the whole answer at the end. It may fail after pieces
// were passed on.
func (c *Client) Stream(ctx context.Context, instructions, message string, maxTokens int, tell func(piece string) error) (chat.Completion, error) {
	question := c.chatParams(instructions, message, maxTokens)
	question.StreamOptions.IncludeUsage = openai.Bool(true)
	return c.ask(ctx, func(ctx context.Context) (chat.Completion, error) {
		// Cancels the request when we stop reading.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stream := c.api.Chat.Completions.NewStreaming(ctx, question, option.WithHTTPClient(c.streaming))
		defer stream.Close()
		// A stream may last as long as its request, but must not pause for longer than an attempt.
		silence := time.AfterFunc(c.silence, func() { cancel(errSilent) })
		defer silence.Stop()
		whole, err := readStream(ctx, stream, func() { silence.Reset(c.silence) }, tell)
		switch {
		case err == nil || errors.Is(err, errListener):
			return whole, err
		case errors.Is(context.Cause(ctx), errSilent):
			err = errSilent
		}
		return whole, c.failure(ctx, err)
	})
}

// readStream calls arrived for each event and tell for each piece of text.
func readStream(ctx context.Context, stream *ssestream.Stream[openai.ChatCompletionChunk], arrived func(), tell func(string) error) (whole chat.Completion, err error) {
	var text strings.Builder
	for stream.Next() {
		arrived()
		if err := ctx.Err(); err != nil {
			return whole, err // buffered data could go on for long
		}
		chunk := stream.Current()
		if chunk.Model != "" {
			whole.Model = chunk.Model
		}
		if chunk.Usage.TotalTokens > 0 {
			whole.TokensIn, whole.TokensOut = tokens(chunk.Usage.PromptTokens), tokens(chunk.Usage.CompletionTokens)
		}
		if len(chunk.Choices) == 0 {
			continue
		}
		choice := chunk.Choices[0]
		if choice.FinishReason != "" {
			whole.Finish = choice.FinishReason
		}
		whole.Refused = whole.Refused || choice.Delta.Refusal != ""
		piece := choice.Delta.Content + choice.Delta.Refusal
		if piece == "" {
			continue
		}
		text.WriteString(piece)
		if err := tell(piece); errors.Is(err, chat.ErrEnough) {
			whole.Text, whole.Finish = text.String(), chat.FinishLength
			return whole, nil
		} else if err != nil {
			return whole, fmt.Errorf("%w: %w", errListener, err)
		}
	}
	whole.Text = text.String()
	// A dropped connection looks like the end of the stream. Only a finish reason proves that it is
	// complete.
	if stream.Err() == nil && whole.Finish == "" {
		return whole, errors.New("the stream ended before the answer")
	}
	return whole, stream.Err()
}
