package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3"

	"tasklens/internal/chat"
	"tasklens/internal/clean"
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
	e := embedding{Client: c, inputs: inputs, vectors: make([]vector.Vector, len(inputs))}
	e.model, e.dimensions = c.asked(storedModel)
	_, err = c.call(ctx, c.embedding, e.model, func(ctx context.Context) (chat.Completion, error) {
		_, err := e.embed(ctx, 0, len(inputs))
		if err == nil && e.refused != nil {
			err = e.refused
			if refused, is := err.(*refusal); e.passed || is && refused.isRequest() {
				err = fmt.Errorf("%w: %w", fault.ErrInput, err)
			}
		}
		return chat.Completion{TokensIn: tokens(e.tokens)}, c.failure(ctx, e.model, err)
	})
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
	tokens     int64
	cut        []int
	passed     bool  // some inputs are embedded
	alone      int   // how many are refused alone
	refused    error // the last of these
}

// embed embeds inputs[from:to], in parts where they are too many, are refused or take too long, and
// reports whether no request was refused. A server's limit is believed if both halves of a refused
// request pass.
func (e *embedding) embed(ctx context.Context, from, to int) (whole bool, err error) {
	n, most, middle := to-from, e.inputLimit(e.model), from+(to-from+1)/2
	if n > most {
		middle = from + (n/most+1)/2*most
	}
	tried := n == 1 || n <= most && len(strings.Join(e.inputs[from:to], "")) <= maxBytes
	if tried {
		vectors, err := e.ask(ctx, e.inputs[from:to])
		switch {
		case err == nil:
			copy(e.vectors[from:], vectors)
			e.passed = true
			return true, nil
		case n == 1:
			return false, e.single(ctx, from, err)
		case !isAboutInputs(err) && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)):
			return false, err
		}
	}
	first, err := e.embed(ctx, from, middle)
	if err != nil {
		return false, err
	}
	second, err := e.embed(ctx, middle, to)
	if tried && first && second {
		e.limitInputs(e.model, middle-from)
	}
	return !tried && first && second, err
}

// single embeds the beginning of a text that is refused alone. If the model accepts none, the
// others go on.
func (e *embedding) single(ctx context.Context, place int, err error) error {
	for text := e.inputs[place]; len(text) > shortestInput; {
		if refused, is := err.(*refusal); !is || !refused.isTooLarge() && refused.code+refused.text != "" && !refused.says(sayTooLarge) {
			break
		}
		text = clean.ClipBytes(text, len(text)*3/4)
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
	refused, is := err.(*refusal)
	return errors.Is(err, errUnread) || is && (refused.isTooLarge() || refused.isFilter() || refused.status == http.StatusBadRequest || refused.status == http.StatusGatewayTimeout ||
		refused.status == http.StatusUnprocessableEntity || refused.status == http.StatusInternalServerError)
}

// errUnread marks a response without a vector for each input. A server may take only one at a time,
// or fail for a single text.
var errUnread = errors.New("read the embeddings")

// sayDimensions: the server takes no dimensions, or passes over them.
var sayDimensions = regexp.MustCompile(`(?i)\bdimensions?\b|matryoshka`)

// ask sends one request.
func (e *embedding) ask(ctx context.Context, inputs []string) ([]vector.Vector, error) {
	vectors, err := e.request(ctx, inputs)
	if err != nil && e.dimensions > 0 && sayDimensions.MatchString(err.Error()) {
		return nil, fault.Wrap(fault.Provider, fmt.Sprintf("The model %q does not take EMBEDDING_DIMENSIONS: unset it.", e.model), errors.New(cause{err, e.key}.Error()))
	}
	return vectors, err
}

func (e *embedding) request(ctx context.Context, inputs []string) ([]vector.Vector, error) {
	// Base64 is less than half the size of JSON numbers.
	body := map[string]any{"model": e.model, "input": inputs, "encoding_format": "base64"}
	if e.dimensions > 0 {
		body["dimensions"] = e.dimensions
	}
	if len(inputs) > 1 { // a smaller request is better than the same one again
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.silence)
		defer cancel()
	}
	response, err := e.send(ctx, &e.embeddingDialect, "embeddings", body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	vectors, err := e.read(content, len(inputs))
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnread, err)
	}
	return vectors, err
}

// read reads a response: by index, or in order if the server leaves the indexes out.
func (e *embedding) read(content []byte, inputs int) ([]vector.Vector, error) {
	var response openai.CreateEmbeddingResponse
	if err := decode(content, &response); err != nil {
		return nil, err
	}
	if len(response.Data) != inputs {
		return nil, unusable("gave %d embeddings for %d inputs", len(response.Data), inputs)
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
			return nil, unusable("gave embeddings that do not belong to the inputs")
		}
		if length == 0 {
			length = len(item.Embedding)
		}
		if len(item.Embedding) == 0 || len(item.Embedding) != length {
			return nil, unusable("gave an embedding of %d dimensions, not %d", len(item.Embedding), length)
		}
		var err error
		if vectors[place], err = vector.Fit(item.Embedding); err != nil {
			return nil, fault.Wrap(fault.Provider, "The model's embeddings do not fit the database ("+err.Error()+").", err)
		}
	}
	e.tokens += max(0, response.Usage.TotalTokens)
	return vectors, nil
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
