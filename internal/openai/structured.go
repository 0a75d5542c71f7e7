package openai

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

// Schema is the form of an answer: a JSON Schema within what the provider's strict mode takes (every property is required,
// none is additional).
type Schema struct {
	Name        string // letters, digits, underscores
	Description string // what the model is to make of it
	JSON        map[string]any
}

// CompleteJSON asks as Complete does, for an answer that is JSON of a schema. A server that is only compatible may not keep
// to it, so the text is still to be checked. It is sent once and never repeated: its caller counts requests, and has time
// to try again later.
func (c *Client) CompleteJSON(ctx context.Context, instructions, message string, maxTokens int, schema Schema) (Completion, error) {
	question := c.chatParams(instructions, message, maxTokens)
	question.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: schema.Name, Description: openai.String(schema.Description), Strict: openai.Bool(true), Schema: schema.JSON,
	}}
	return c.complete(ctx, question, 0)
}
