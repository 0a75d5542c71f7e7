package openai

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// EmbeddingDollars is the price per million tokens of models whose price was known in November
// 2026.
var EmbeddingDollars = map[string]float64{"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.10}

// Embed returns the embedding of each input, in order and ready to store, and the number of tokens
// that the provider reports. storedModel names the model as the database does; it may be any of the
// provider's. Pass at most MaxInputs inputs with at most MaxTokens tokens in total, none of them
// empty.
func (c *Client) Embed(ctx context.Context, storedModel string, inputs []string) (vectors []vector.Vector, tokens int, err error) {
	model, dimensions := c.asked(storedModel)
	said, err := c.call(ctx, c.embedding, model, func(ctx context.Context) (said chat.Completion, err error) {
		vectors, said.TokensIn, err = c.embed(ctx, model, dimensions, inputs)
		return said, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("embed %d inputs: %w", len(inputs), err)
	}
	return vectors, said.TokensIn, nil
}

func (c *Client) embed(ctx context.Context, model string, dimensions int, inputs []string) ([]vector.Vector, int, error) {
	parameters := openai.EmbeddingNewParams{
		Model: model,
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: inputs},
		// Base64 is less than half the size of JSON numbers. The library decodes it.
		EncodingFormat: openai.EmbeddingNewParamsEncodingFormatBase64,
	}
	if dimensions > 0 {
		parameters.Dimensions = openai.Int(int64(dimensions))
	}
	response, err := c.api.Embeddings.New(ctx, parameters)
	if err != nil {
		return nil, 0, c.failure(ctx, err)
	}
	if response == nil { // the body is null
		return nil, 0, unusable("gave no embeddings")
	}
	vectors := make([]vector.Vector, len(inputs))
	length := 0 // of each embedding, once the first is read
	for _, item := range response.Data {
		// The order of the response is not guaranteed, so use the index.
		if item.Index < 0 || int(item.Index) >= len(inputs) || vectors[item.Index] != nil {
			return nil, 0, unusable("gave embeddings that do not belong to the inputs")
		}
		if length == 0 {
			length = len(item.Embedding)
		}
		if len(item.Embedding) == 0 || len(item.Embedding) != length {
			return nil, 0, unusable("gave an embedding of %d numbers, not %d", len(item.Embedding), length)
		}
		if vectors[item.Index], err = vector.Fit(item.Embedding); err != nil {
			return nil, 0, fault.Wrap(fault.Provider, "The model's embeddings do not fit the database ("+err.Error()+").", err)
		}
	}
	for i, embedding := range vectors {
		if embedding == nil {
			return nil, 0, unusable("gave no embedding for input %d", i)
		}
	}
	return vectors, tokens(response.Usage.TotalTokens), nil
}
