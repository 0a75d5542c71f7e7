package openai

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"tasklens/internal/chat"
)

// Complete sends instructions (the system message) and message (the user message) to the chat model
// and requests at most maxTokens tokens. A refusal is returned as the text.
func (c *Client) Complete(ctx context.Context, instructions, message string, maxTokens int) (chat.Completion, error) {
	return c.complete(ctx, c.chatParams(instructions, message, maxTokens), c.retries)
}

// CompleteJSON is Complete for an answer in JSON of a schema. A compatible server may ignore the
// schema, so the caller must validate the text. It is never retried here: the caller counts
// requests and retries later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error) {
	question := c.chatParams(instructions, message, maxTokens)
	question.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: schema.Name, Description: openai.String(schema.Description), Strict: openai.Bool(true), Schema: schema.JSON,
	}}
	return c.complete(ctx, question, 0)
}

func (c *Client) complete(ctx context.Context, question openai.ChatCompletionNewParams, retries int) (said chat.Completion, err error) {
	ctx, end := c.begin(ctx, OperationChat, c.chatModel)
	defer func() { end(outcomeOf(said, err)) }()
	err = c.chatCircuit.do(func() error {
		return attempt(ctx, retries, func() (err error) {
			said, err = c.chat(ctx, question, retries)
			return err
		})
	})
	if err != nil {
		return chat.Completion{}, fmt.Errorf("ask the chat model: %w", err)
	}
	return said, nil
}

func (c *Client) chat(ctx context.Context, question openai.ChatCompletionNewParams, retries int) (chat.Completion, error) {
	var came *http.Response
	response, err := c.api.Chat.Completions.New(ctx, question, option.WithHTTPClient(c.chatting), option.WithMaxRetries(retries), option.WithResponseInto(&came))
	if err != nil {
		return chat.Completion{}, c.received(ctx, came, err)
	}
	if response == nil || len(response.Choices) == 0 { // nil: the body is null
		return chat.Completion{}, unfit("gave no answer")
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
		return chat.Completion{}, unfit("gave no answer")
	}
	return said, nil
}

func outcomeOf(said chat.Completion, err error) Outcome {
	return Outcome{Model: said.Model, Finish: said.Finish, TokensIn: said.TokensIn, TokensOut: said.TokensOut, Err: err}
}

func (c *Client) chatParams(instructions, message string, maxTokens int) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:               c.chatModel,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(message)},
		MaxCompletionTokens: openai.Int(int64(maxTokens)),
	}
}
