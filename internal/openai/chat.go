package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/chat"
)

// Complete asks the chat model. A refusal is returned as the text. What the model thinks is left
// out, and a prompt that the provider's filter refuses is an answer without a text.
func (c *Client) Complete(ctx context.Context, request chat.Request) (chat.Completion, error) {
	return c.ask(ctx, c.chatBody(request), nil)
}

// CompleteJSON is Complete for an answer in JSON of a schema. A compatible server may ignore the
// schema, so the caller must validate the text, which is the JSON without what stands around it. It
// is never retried here: the caller counts requests and retries later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error) {
	body := c.chatBody(chat.Request{Instructions: instructions, Message: message, MaxTokens: maxTokens})
	body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
		"name": schema.Name, "description": schema.Description, "strict": true, "schema": schema.JSON,
	}}
	said, err := c.ask(ctx, body, nil, option.WithMaxRetries(0))
	said.Text = onlyJSON(said.Text)
	return said, err
}

// Stream is Complete with the text passed to tell piece by piece. An error from tell cancels the
// request; see chat.ErrEnough. Stream returns the whole answer at the end. It may fail after pieces
// were passed on. Until one answer has shown whether the model puts thoughts into its text without
// an opening mark, and where it does, the text is held back until they end.
func (c *Client) Stream(ctx context.Context, request chat.Request, tell func(piece string) error) (chat.Completion, error) {
	body := c.chatBody(request)
	body["stream"], body["stream_options"] = true, map[string]any{"include_usage": true}
	return c.ask(ctx, body, tell, option.WithHTTPClient(c.streaming))
}

func (c *Client) chatBody(request chat.Request) map[string]any {
	// OpenAI's thinking models refuse max_tokens; Ollama and others ignore max_completion_tokens, and
	// such an answer may never end.
	body := map[string]any{
		"model": c.chatModel, "messages": []message{{"system", request.Instructions}, {"user", request.Message}}, "max_tokens": request.MaxTokens,
	}
	if t := request.Tool; t != nil {
		body["tools"] = []tool{{"function", function{t.Name, t.Description, true, t.JSON}}}
		body["parallel_tool_calls"] = false
	}
	return body
}

// onlyJSON returns the JSON object within a text: models put a fence or a sentence around it.
func onlyJSON(text string) string {
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from && json.Valid([]byte(text[from:to+1])) {
		return text[from : to+1]
	}
	return text
}

// errListener marks an error of the receiving side of a stream. It does not count against the
// provider.
var errListener = errors.New("tell a piece of the answer")

// errSilent marks a stream that sent nothing for as long as an attempt may take.
var errSilent = fmt.Errorf("the stream is silent: %w", context.DeadlineExceeded)

// ask calls the chat model. tell gets the text of a stream; nil: the request wants none.
func (c *Client) ask(ctx context.Context, body map[string]any, tell func(piece string) error, options ...option.RequestOption) (chat.Completion, error) {
	said, err := c.call(ctx, c.chatting, c.chatModel, func(ctx context.Context) (chat.Completion, error) {
		whole := completion{tell: tell, thoughts: thoughts{silent: tell == nil || c.thinks.Load() != thinksApart}}
		err := c.listen(ctx, body, &whole, options...)
		if refused, is := errors.AsType[*refusal](err); is && refused.isFilter() {
			return chat.Completion{Model: c.chatModel, Finish: chat.FinishFilter}, nil
		}
		return whole.said, c.failure(ctx, c.chatModel, err)
	})
	if err != nil {
		return chat.Completion{}, fmt.Errorf("ask the chat model: %w", err)
	}
	return said, nil
}

// listen reads the answer to a request.
func (c *Client) listen(ctx context.Context, body map[string]any, whole *completion, options ...option.RequestOption) error {
	ctx, cancel := context.WithCancelCause(ctx) // ends the request when we stop reading
	defer cancel(nil)
	// A stream may last as long as its request, but must not pause for longer than an attempt.
	longest := c.silence
	if whole.tell == nil {
		longest = math.MaxInt64 // the HTTP client bounds each attempt
	}
	silence := time.AfterFunc(longest, func() { cancel(errSilent) })
	defer silence.Stop()
	response, err := c.send(ctx, &c.chatDialect, "chat/completions", body, options...)
	if err == nil {
		defer response.Body.Close()
		err = whole.read(ctx, response, func() { silence.Reset(longest) })
	}
	if err == nil {
		err = whole.end(c, body["response_format"] == nil)
	}
	whole.said.Text = whole.text.String()
	switch {
	case errors.Is(err, chat.ErrEnough):
		whole.said.Finish = chat.FinishLength
		return nil
	case err != nil && !errors.Is(err, errListener) && errors.Is(context.Cause(ctx), errSilent):
		return errSilent
	}
	return err
}
