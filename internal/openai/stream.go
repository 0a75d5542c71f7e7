package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var came *http.Response
	stream := c.api.Chat.Completions.NewStreaming(ctx, question, option.WithHTTPClient(c.streaming), option.WithResponseInto(&came))
	defer stream.Close()
	told := false
	whole, err := readStream(ctx, stream, func(piece string) error {
		told = true
		return tell(piece)
	})
	switch {
	case err == nil || errors.Is(err, errListener):
		return whole, err
	case told:
		return whole, c.failure(ctx, err) // no retry: pieces already sent cannot be taken back
	default:
		return whole, c.received(ctx, came, err)
	}
}

func readStream(ctx context.Context, stream *ssestream.Stream[openai.ChatCompletionChunk], tell func(string) error) (whole chat.Completion, err error) {
	var text strings.Builder
	for stream.Next() {
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

// idle is a transport that fails a response if no data arrives for limit (0: never). A stream may
// last as long as its request, so its total time has no limit of its own.
type idle struct {
	http.RoundTripper
	limit time.Duration
}

func (t idle) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.limit <= 0 {
		return t.RoundTripper.RoundTrip(request)
	}
	ctx, cancel := context.WithCancel(request.Context())
	body := &idleBody{cancel: cancel, limit: t.limit}
	body.timer = time.AfterFunc(t.limit, func() {
		body.expired.Store(true)
		cancel()
	})
	response, err := t.RoundTripper.RoundTrip(request.WithContext(ctx))
	if err != nil {
		body.timer.Stop()
		cancel()
		return nil, body.named(err)
	}
	body.ReadCloser, response.Body = response.Body, body
	return response, nil
}

type idleBody struct {
	io.ReadCloser
	cancel  context.CancelFunc
	timer   *time.Timer
	limit   time.Duration
	expired atomic.Bool
}

func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.limit)
	}
	return n, b.named(err)
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	defer b.cancel()
	return b.ReadCloser.Close()
}

// named returns the timeout error if our own timer ended the response.
func (b *idleBody) named(err error) error {
	if err != nil && err != io.EOF && b.expired.Load() {
		return fmt.Errorf("nothing came for %v: %w", b.limit, context.DeadlineExceeded)
	}
	return err
}
