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

// errListener stands before an error of whoever is told an answer piece by piece: the provider is not to blame.
var errListener = errors.New("tell a piece of the answer")

// Stream asks as Complete does and tells every piece of the text as soon as it comes. An error of tell ends the call,
// and with it the provider's work; see chat.ErrEnough. The answer as a whole is returned at the end; pieces may have been told
// before an error.
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
	// Ends the provider's work when we stop listening.
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
		return whole, c.failure(ctx, err) // what was told cannot be taken back, so it is not asked again
	default:
		return whole, c.received(ctx, came, err)
	}
}

func readStream(ctx context.Context, stream *ssestream.Stream[openai.ChatCompletionChunk], tell func(string) error) (whole chat.Completion, err error) {
	var text strings.Builder
	for stream.Next() {
		if err := ctx.Err(); err != nil {
			return chat.Completion{}, err // what is in memory already could go on for long
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
	// A connection that ends looks like the end of the stream; the reason for the end is what tells them apart.
	if whole.Finish == "" {
		return chat.Completion{}, fault.New(fault.Provider, "The model provider stopped in the middle of its answer.")
	}
	return whole, nil
}

// idle is a transport whose answers end with an error when nothing comes for limit (0: never). A stream may last as long as its
// request, so that no limit can be put on the whole.
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

// named says that an error is a timeout, where our own timer was the reason.
func (b *idleBody) named(err error) error {
	if err != nil && err != io.EOF && b.expired.Load() {
		return fmt.Errorf("nothing came for %v: %w", b.limit, context.DeadlineExceeded)
	}
	return err
}
