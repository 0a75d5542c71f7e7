package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
	"tasklens/internal/vector"
)

// EmbeddingDollars is the price per million tokens of models whose price was known in November
// 2026.
var EmbeddingDollars = map[string]float64{"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.10}

// Limits of one request, of a server that has shown no other.
const (
	maxInputs = 64
	maxBytes  = 256 << 10 // about 64,000 tokens
)

const (
	// shortestInput is the length in bytes below which a text is not cut to fit the model.
	shortestInput = 200
	// hopeless is the number of texts refused alone, while none is accepted, that end a call.
	hopeless = 3
)

// Embed returns the embedding of each input, in order and ready to store, and the places of those
// that the model refused as too long and whose end was cut until it did not. storedModel names the
// model as the database does; it may be any of the provider's. Requests are made as small as the
// server wants them. After an error, vectors has nil for the inputs that were not embedded;
// fault.ErrInput: they are refused for themselves.
func (c *Client) Embed(ctx context.Context, storedModel string, inputs []string) (vectors []vector.Vector, cut []int, err error) {
	model, dimensions := c.asked(storedModel)
	e := embedding{Client: c, model: model, dimensions: dimensions, inputs: inputs, vectors: make([]vector.Vector, len(inputs))}
	if _, err = e.between(ctx, 0, len(inputs)); err == nil && e.refused != nil {
		err = e.refused
		if refused, is := errors.AsType[*refusal](err); e.passed || is && refused.isRequest() {
			err = fmt.Errorf("%w: %w", fault.ErrInput, err)
		}
	}
	if err != nil {
		err = fmt.Errorf("embed %d inputs: %w", len(inputs), err)
	}
	if err != nil && !e.passed {
		return nil, nil, err
	}
	return e.vectors, e.cut, err
}

// embedding is a call of Embed.
type embedding struct {
	*Client
	model      string
	dimensions int
	inputs     []string
	vectors    []vector.Vector
	cut        []int
	passed     bool  // some inputs are embedded
	alone      int   // how many are refused alone
	refused    error // the last of these
}

// between embeds inputs[from:to], and reports whether no request was refused.
func (e *embedding) between(ctx context.Context, from, to int) (whole bool, err error) {
	for whole = true; from < to && err == nil; {
		n, bytes := 1, len(e.inputs[from])
		for most := e.inputLimit(e.model); n < min(most, to-from) && bytes+len(e.inputs[from+n]) <= maxBytes; n++ {
			bytes += len(e.inputs[from+n])
		}
		var passed bool
		passed, err = e.request(ctx, from, from+n)
		whole, from = whole && passed, from+n
	}
	return whole, err
}

// request embeds inputs in one request, or in halves if it is refused, failed or took too long. A
// server's limit is believed if both halves pass.
func (e *embedding) request(ctx context.Context, from, to int) (whole bool, err error) {
	vectors, err := e.ask(ctx, e.inputs[from:to])
	switch {
	case err == nil:
		copy(e.vectors[from:], vectors)
		e.passed = true
		return true, nil
	case !isAboutInputs(err) && !(isSeveral(err) && ctx.Err() == nil):
		return false, err
	case to-from == 1:
		return false, e.single(ctx, from, err)
	}
	middle := from + (to-from+1)/2
	first, err := e.between(ctx, from, middle)
	if err != nil {
		return false, err
	}
	second, err := e.between(ctx, middle, to)
	if err == nil && first && second {
		e.limitInputs(e.model, middle-from)
	}
	return false, err
}

// single embeds the beginning of a text that is refused alone. If the model accepts none, the
// others go on.
func (e *embedding) single(ctx context.Context, place int, err error) error {
	for text := e.inputs[place]; len(text) > shortestInput; {
		if refused, is := errors.AsType[*refusal](err); !is || !refused.isTooLarge() && refused.code+refused.text != "" && !refused.says(sayTooLarge) {
			break
		}
		end := len(text) * 3 / 4
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
		var vectors []vector.Vector
		if vectors, err = e.ask(ctx, []string{text}); err == nil {
			e.vectors[place], e.cut, e.passed = vectors[0], append(e.cut, place), true
			return nil
		}
	}
	if e.alone, e.refused = e.alone+1, err; !isAboutInputs(err) || !e.passed && e.alone == hopeless {
		return err
	}
	return nil
}

// isAboutInputs reports whether fewer or shorter inputs may be accepted.
func isAboutInputs(err error) bool {
	refused, is := errors.AsType[*refusal](err)
	return is && !errors.Is(err, errDimensions) && (refused.isTooLarge() || refused.isFilter() || refused.status == http.StatusBadRequest ||
		refused.status == http.StatusUnprocessableEntity || refused.status == http.StatusInternalServerError)
}

// isSeveral reports failures that may be due to the number of inputs of a request, and say nothing
// about the provider before a smaller one fails.
func isSeveral(err error) bool {
	return errors.Is(err, errSeveral) && (isAboutInputs(err) || fault.CodeOf(err) == fault.Timeout && !errors.Is(err, context.Canceled))
}

// errSeveral marks the failure of a request of several inputs.
var errSeveral = errors.New("of several inputs")

// errDimensions: the server takes no dimensions, and would give vectors of another length.
var (
	errDimensions = errors.New("the server refuses dimensions")
	sayDimensions = regexp.MustCompile(`(?i)\bdimensions?\b|matryoshka`)
)

// ask sends one request.
func (e *embedding) ask(ctx context.Context, inputs []string) (vectors []vector.Vector, err error) {
	// Base64 is less than half the size of JSON numbers.
	body := map[string]any{"model": e.model, "input": inputs, "encoding_format": "base64"}
	if e.dimensions > 0 {
		body["dimensions"] = e.dimensions
	}
	_, err = e.call(ctx, e.embedding, e.model, func(ctx context.Context) (said chat.Completion, err error) {
		soon := ctx
		if len(inputs) > 1 { // a smaller request is better than the same one again
			var cancel context.CancelFunc
			soon, cancel = context.WithTimeout(ctx, e.silence)
			defer cancel()
		}
		response, err := e.send(soon, &e.embeddingDialect, "embeddings", body)
		if err == nil {
			var content []byte
			if content, err = io.ReadAll(response.Body); err == nil {
				vectors, said.TokensIn, err = e.read(content, len(inputs))
			}
		}
		refused, is := errors.AsType[*refusal](err)
		if is && e.dimensions > 0 && refused.isRequest() && sayDimensions.MatchString(refused.text) {
			err = fault.Wrap(fault.Provider, fmt.Sprintf("The model %q does not take EMBEDDING_DIMENSIONS: unset it.", e.model), fmt.Errorf("%w: %w", errDimensions, cause{err, e.key}))
		}
		if err = e.failure(ctx, e.model, err); err != nil && len(inputs) > 1 {
			err = fmt.Errorf("%w: %w", errSeveral, err)
		}
		return said, err
	})
	return vectors, err
}

// read reads a response: by index, or in order if the server leaves the indexes out.
func (e *embedding) read(content []byte, inputs int) ([]vector.Vector, int, error) {
	var response openai.CreateEmbeddingResponse
	if err := json.Unmarshal(content, &response); err != nil {
		return nil, 0, fmt.Errorf("read the embeddings: %w", err)
	}
	if len(response.Data) != inputs {
		return nil, 0, unusable("gave %d embeddings for %d inputs", len(response.Data), inputs)
	}
	indexed := 0
	for _, item := range response.Data {
		if item.JSON.Index.Valid() {
			indexed++
		}
	}
	vectors := make([]vector.Vector, inputs)
	length := e.dimensions // of each embedding; 0 until the first is read
	for i, item := range response.Data {
		place := item.Index // 0 if it is left out, which some servers do with that number alone
		if indexed == 0 {
			place = int64(i)
		}
		if place < 0 || int(place) >= inputs || vectors[place] != nil {
			return nil, 0, unusable("gave embeddings that do not belong to the inputs")
		}
		if length == 0 {
			length = len(item.Embedding)
		}
		if len(item.Embedding) == 0 || len(item.Embedding) != length {
			return nil, 0, unusable("gave an embedding of %d numbers, not %d", len(item.Embedding), length)
		}
		var err error
		if vectors[place], err = vector.Fit(item.Embedding); err != nil {
			return nil, 0, fault.Wrap(fault.Provider, "The model's embeddings do not fit the database ("+err.Error()+").", err)
		}
	}
	return vectors, tokens(response.Usage.TotalTokens), nil
}

// inputLimit is how many inputs of a model the server takes in one request.
func (c *Client) inputLimit(model string) int {
	if most, known := c.limits.Load(model); known {
		return most.(int)
	}
	return maxInputs
}

func (c *Client) limitInputs(model string, most int) {
	if most < c.inputLimit(model) {
		c.limits.Store(model, most)
		c.notice("the model provider takes fewer inputs in a request", "model", model, "inputs", most)
	}
}
