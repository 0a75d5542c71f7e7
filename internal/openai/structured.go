package openai

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"tasklens/internal/chat"
)

// CompleteJSON asks as Complete does, for an answer that is JSON of a schema. A server that is only compatible may not keep
// to it, so the text is still to be checked. It is sent once and never repeated: its caller counts requests, and has time
// to try again later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema chat.Schema) (chat.Completion, error) {
	question := c.chatParams(instructions, message, maxTokens)
	question.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: schema.Name, Description: openai.String(schema.Description), Strict: openai.Bool(true), Schema: schema.JSON,
	}}
	return c.complete(ctx, question, 0)
}
