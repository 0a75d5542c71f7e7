package openai

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"

	"tasklens/internal/fault"
)

// Completion is what a chat model said.
type Completion struct {
	Text   string
	Model  string // as the provider names it
	Finish string // stop, length, content_filter
}

// Complete asks the chat model with instructions (the system's message) and a message (the user's), for at most
// maxTokens tokens. A refusal is given as the text.
func (c *Client) Complete(ctx context.Context, instructions, message string, maxTokens int) (Completion, error) {
	response, err := c.api.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:               c.chatModel,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(message)},
		MaxCompletionTokens: openai.Int(int64(maxTokens)),
	})
	if err != nil {
		return Completion{}, fmt.Errorf("ask the chat model: %w", failure(ctx, err))
	}
	if len(response.Choices) == 0 {
		return Completion{}, fmt.Errorf("ask the chat model: %w", fault.New(fault.Provider, "The model provider gave no answer."))
	}
	choice := response.Choices[0]
	text := choice.Message.Content
	if text == "" {
		text = choice.Message.Refusal
	}
	return Completion{Text: text, Model: response.Model, Finish: choice.FinishReason}, nil
}
