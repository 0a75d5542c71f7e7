package openai

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"tasklens/internal/fault"
)

// Completion is what a chat model said.
type Completion struct {
	Text      string
	Refused   bool   // the text is the model's refusal
	Model     string // as the provider names it
	Finish    string // stop, length, content_filter
	TokensIn  int    // as the provider counts them; 0 where it does not say
	TokensOut int
}

// Complete asks the chat model with instructions (the system's message) and a message (the user's), for at most
// maxTokens tokens. A refusal is given as the text.
func (c *Client) Complete(ctx context.Context, instructions, message string, maxTokens int) (Completion, error) {
	return c.complete(ctx, c.chatParams(instructions, message, maxTokens))
}

func (c *Client) complete(ctx context.Context, question openai.ChatCompletionNewParams, options ...option.RequestOption) (said Completion, err error) {
	ctx, end := c.begin(ctx, OperationChat, c.chatModel)
	defer func() { end(said.outcome(err)) }()
	var response *openai.ChatCompletion
	err = c.chatCircuit.do(func() (err error) {
		if response, err = c.api.Chat.Completions.New(ctx, question, options...); err != nil {
			return c.failure(ctx, err)
		}
		if len(response.Choices) == 0 {
			return fault.New(fault.Provider, "The model provider gave no answer.")
		}
		return nil
	})
	if err != nil {
		return Completion{}, fmt.Errorf("ask the chat model: %w", err)
	}
	choice := response.Choices[0]
	said = Completion{
		Text: choice.Message.Content, Refused: choice.Message.Refusal != "", Model: response.Model, Finish: choice.FinishReason,
		TokensIn: int(response.Usage.PromptTokens), TokensOut: int(response.Usage.CompletionTokens),
	}
	if said.Text == "" {
		said.Text = choice.Message.Refusal
	}
	return said, nil
}

func (c Completion) outcome(err error) Outcome {
	return Outcome{Model: c.Model, Finish: c.Finish, TokensIn: c.TokensIn, TokensOut: c.TokensOut, Err: err}
}

func (c *Client) chatParams(instructions, message string, maxTokens int) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:               c.chatModel,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(message)},
		MaxCompletionTokens: openai.Int(int64(maxTokens)),
	}
}
