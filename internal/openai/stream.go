package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// errListener marks an error of the receiving side of a stream. It does not count against the
// provider.
var errListener = errors.New("tell a piece of the answer")

// errSilent marks a stream that sent no event for as long as an attempt may take.
var errSilent = fmt.Errorf("the stream is silent: %w", context.DeadlineExceeded)

// Stream is Complete with the text passed to tell piece by piece. An error from tell cancels the
// request; see chat.ErrEnough. Stream returns the whole answer at the end. It may fail after pieces
// were passed on.
func (c *Client) Stream(ctx context.Context, instructions, message string, maxTokens int, tell func(piece string) error) (whole chat.Completion, err error) {
	ctx, end := c.begin(ctx, OperationChat, c.chatModel)
	defer func() { end(outcomeOf(whole, err)) }()
	question := c.chatParams(instructions, message, maxTokens)
	question.StreamOptions.IncludeUsage = openai.Bool(true)
	err = c.chatCircuit.do(func() error {
		return attempt(ctx, c.retries, func() (err error) {
			whole, err = c.stream(ctx, question, tell)
			return err
		})
	})
	if err != nil {
		return chat.Completion{}, fmt.Errorf("ask the chat model: %w", err)
	}
	return whole, nil
}

func (c *Client) stream(ctx context.Context, question openai.ChatCompletionNewParams, tell func(string) error) (chat.Completion, error) {
	// Cancels the request when we stop reading.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var came *http.Response
	stream := c.api.Chat.Completions.NewStreaming(ctx, question, option.WithHTTPClient(c.streaming), option.WithResponseInto(&came))
	defer stream.Close()
	// A stream may last as long as its request, but must not pause for longer than an attempt.
	silence := time.AfterFunc(c.silence, func() { cancel(errSilent) })
	defer silence.Stop()
	told := false
	whole, err := readStream(ctx, stream, func() { silence.Reset(c.silence) }, func(piece string) error {
		told = true
		return tell(piece)
	})
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	switch {
	case err == nil || errors.Is(err, errListener):
		return whole, err
	case told:
		return whole, c.failure(ctx, err) // no retry: pieces already sent cannot be taken back
	default:
		return whole, c.received(ctx, came, err)
	}
}

// readStream calls arrived for each event and tell for each piece of text.
func readStream(ctx context.Context, stream *ssestream.Stream[openai.ChatCompletionChunk], arrived func(), tell func(string) error) (whole chat.Completion, err error) {
	var text strings.Builder
	for stream.Next() {
		arrived()
		if err := ctx.Err(); err != nil {
			return chat.Completion{}, err // buffered data could go on for long
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
		piece := choice.Delta.Content
		if choice.Delta.Refusal != "" {
			whole.Refused = true
			piece += choice.Delta.Refusal
		}
		if piece == "" {
			continue
		}
		text.WriteString(piece)
		if err := tell(piece); errors.Is(err, chat.ErrEnough) {
			whole.Text, whole.Finish = text.String(), chat.FinishLength
			return whole, nil
		} else if err != nil {
			return chat.Completion{}, fmt.Errorf("%w: %w", errListener, err)
		}
	}
	whole.Text = text.String()
	if err := stream.Err(); err != nil {
		return chat.Completion{}, err
	}
	// A dropped connection looks like the end of the stream. Only a finish reason proves that it is
	// complete.
	if whole.Finish == "" {
		return chat.Completion{}, fault.New(fault.Provider, "The model provider closed the stream before the end of its answer.")
	}
	return whole, nil
}
