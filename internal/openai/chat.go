package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/chat"
)

// Complete sends instructions (the system message) and message (the user message) to the chat model
// and requests at most maxTokens tokens. A refusal is returned as the text. What the model thinks
// is left out, and a prompt that the provider's filter refuses is an answer without a text.
func (c *Client) Complete(ctx context.Context, instructions, message string, maxTokens int) (chat.Completion, error) {
	return c.complete(ctx, c.chatBody(instructions, message, maxTokens))
}

// CompleteJSON is Complete for an answer in JSON of a schema. A compatible server may ignore the
// schema, so the caller must validate the text, which is the JSON without what stands around it. It
// is never retried here: the caller counts requests and retries later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error) {
	body := c.chatBody(instructions, message, maxTokens)
	body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
		"name": schema.Name, "description": schema.Description, "strict": true, "schema": schema.JSON,
	}}
	said, err := c.complete(ctx, body, option.WithMaxRetries(0))
	said.Text = onlyJSON(said.Text)
	return said, err
}

// onlyJSON returns the JSON object within a text: models put a fence or a sentence around it.
func onlyJSON(text string) string {
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from && json.Valid([]byte(text[from:to+1])) {
		return text[from : to+1]
	}
	return text
}

func (c *Client) chatBody(instructions, text string, maxTokens int) map[string]any {
	return map[string]any{"model": c.chatModel, "messages": []message{{"system", instructions}, {"user", text}}, "max_completion_tokens": maxTokens}
}

func (c *Client) complete(ctx context.Context, body map[string]any, options ...option.RequestOption) (chat.Completion, error) {
	return c.ask(ctx, func(ctx context.Context) (chat.Completion, error) {
		response, err := c.send(ctx, &c.chatDialect, "chat/completions", body, options...)
		if err != nil {
			return chat.Completion{}, err
		}
		defer response.Body.Close()
		whole := completion{tell: func(string) error { return nil }, thoughts: thoughts{silent: true}}
		content, err := io.ReadAll(response.Body)
		if err == nil {
			err = whole.add(content)
		}
		if err == nil {
			err = whole.end(c, body["response_format"] == nil)
		}
		return whole.said, err
	})
}

// ask calls the chat model.
func (c *Client) ask(ctx context.Context, call func(context.Context) (chat.Completion, error)) (chat.Completion, error) {
	said, err := c.call(ctx, c.chatting, c.chatModel, func(ctx context.Context) (chat.Completion, error) {
		said, err := call(ctx)
		if refused, is := errors.AsType[*refusal](err); is && refused.isFilter() {
			return chat.Completion{Model: c.chatModel, Finish: chat.FinishFilter}, nil
		}
		return said, c.failure(ctx, c.chatModel, err)
	})
	if err != nil {
		return said, fmt.Errorf("ask the chat model: %w", err)
	}
	return said, nil
}

// errListener marks an error of the receiving side of a stream. It does not count against the
// provider.
var errListener = errors.New("tell a piece of the answer")

// errSilent marks a stream that sent nothing for as long as an attempt may take.
var errSilent = fmt.Errorf("the stream is silent: %w", context.DeadlineExceeded)

// Stream is Complete with the text passed to tell piece by piece. An error from tell cancels the
// request; see chat.ErrEnough. Stream returns the whole answer at the end. It may fail after pieces
// were passed on. Until one answer has shown whether the model puts thoughts into its text without
// an opening mark, and where it does, the text is held back until they end.
func (c *Client) Stream(ctx context.Context, instructions, message string, maxTokens int, tell func(piece string) error) (chat.Completion, error) {
	body := c.chatBody(instructions, message, maxTokens)
	body["stream"], body["stream_options"] = true, map[string]any{"include_usage": true}
	return c.ask(ctx, func(ctx context.Context) (chat.Completion, error) {
		// Cancels the request when we stop reading.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// A stream may last as long as its request, but must not pause for longer than an attempt.
		silence := time.AfterFunc(c.silence, func() { cancel(errSilent) })
		defer silence.Stop()
		whole := completion{tell: tell, thoughts: thoughts{silent: c.thinks.Load() != thinksApart}}
		response, err := c.send(ctx, &c.chatDialect, "chat/completions", body, option.WithHTTPClient(c.streaming))
		if err == nil {
			defer response.Body.Close()
			err = whole.read(ctx, c, response, func() { silence.Reset(c.silence) })
		}
		if err != nil && !errors.Is(err, errListener) && errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		return whole.said, err
	})
}
