package openai

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"tasklens/internal/chat"
)

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
