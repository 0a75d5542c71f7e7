package offline

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"runtime"

	"golang.org/x/sync/errgroup"

	"tasklens/scripts/lab/offline/embed"
)

type embeddingRequest struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	Dimensions     *int            `json:"dimensions"`
	EncodingFormat *string         `json:"encoding_format"`
}

type embeddingResponse struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  usage       `json:"usage"`
}

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or their bytes in base64
}

type usage struct {
	PromptTokens     int  `json:"prompt_tokens"`
	CompletionTokens *int `json:"completion_tokens,omitempty"` // chat only
	TotalTokens      int  `json:"total_tokens"`
}

func (o options) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	var request embeddingRequest
	if p := readJSON(w, r, &request); p != nil {
		writeProblem(w, p)
		return
	}
	embedder, known := o.embedders[request.Model]
	if request.Model != "" && !known {
		writeProblem(w, modelNotFound(request.Model))
		return
	}
	texts, tokens, p := request.check()
	if p != nil {
		writeProblem(w, p)
		return
	}
	dimensions := embed.Dimensions
	if request.Dimensions != nil {
		dimensions = *request.Dimensions
	}
	vectors, err := embedAll(r.Context(), embedder, texts, dimensions)
	if err != nil {
		return // the client has disconnected
	}
	response := embeddingResponse{Object: "list", Model: request.Model, Usage: usage{PromptTokens: tokens, TotalTokens: tokens}}
	asBase64 := request.EncodingFormat != nil && *request.EncodingFormat == "base64"
	for i, vector := range vectors {
		e := embedding{Object: "embedding", Index: i, Embedding: vector}
		if asBase64 {
			e.Embedding = encodeBase64(vector)
		}
		response.Data = append(response.Data, e)
	}
	writeJSON(w, http.StatusOK, response)
}

// check returns the texts of a valid request and their tokens.
func (e embeddingRequest) check() (texts []string, tokens int, p *problem) {
	if e.Model == "" {
		return nil, 0, invalid("model", "You must provide a model parameter.")
	}
	if d := e.Dimensions; d != nil && (*d < 1 || *d > embed.Dimensions) {
		return nil, 0, invalid("dimensions", "'dimensions' must be from 1 to %d.", embed.Dimensions)
	}
	if f := e.EncodingFormat; f != nil && *f != "float" && *f != "base64" {
		return nil, 0, invalid("encoding_format", "'encoding_format' must be \"float\" or \"base64\".")
	}
	if texts, p = e.texts(); p != nil {
		return nil, 0, p
	}
	for i, text := range texts {
		if text == "" {
			return nil, 0, invalid("input", "'input' must not hold an empty string (input %d).", i)
		}
		n := countTokens(text)
		if n > maxInputTokens {
			return nil, 0, invalid("input", "Input %d has about %d tokens; the maximum is %d.", i, n, maxInputTokens)
		}
		tokens += n
	}
	if tokens > maxRequestTokens {
		return nil, 0, &problem{
			status: http.StatusBadRequest, param: "input", code: "max_tokens_per_request",
			message: invalid("", "The inputs have about %d tokens; the maximum is %d a request.", tokens, maxRequestTokens).message,
		}
	}
	return texts, tokens, nil
}

// texts reads input: a string or an array of strings.
func (e embeddingRequest) texts() ([]string, *problem) {
	input := bytes.TrimSpace(e.Input)
	if len(input) == 0 || string(input) == "null" {
		return nil, invalid("input", "You must provide an input parameter.")
	}
	var texts []string
	switch input[0] {
	case '"':
		texts = make([]string, 1)
		if err := json.Unmarshal(input, &texts[0]); err != nil {
			return nil, invalid("input", "'input' is not a valid string.")
		}
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(input, &items); err != nil {
			return nil, invalid("input", "'input' is not a valid array.")
		}
		if len(items) == 0 || len(items) > maxInputs {
			return nil, invalid("input", "'input' must hold 1 to %d strings, not %d.", maxInputs, len(items))
		}
		texts = make([]string, len(items))
		for i, item := range items {
			if item[0] != '"' {
				return nil, invalid("input", "'input' must be a string or an array of strings; arrays of tokens are not supported by %s.", e.Model)
			}
			if err := json.Unmarshal(item, &texts[i]); err != nil {
				return nil, invalid("input", "Input %d is not a valid string.", i)
			}
		}
	default:
		return nil, invalid("input", "'input' must be a string or an array of strings.")
	}
	return texts, nil
}

// embedAll embeds texts in parallel until the context ends.
func embedAll(ctx context.Context, embedder func(text string, dimensions int) []float32, texts []string, dimensions int) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			vectors[i] = embedder(text, dimensions)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// encodeBase64 encodes float32 numbers, little-endian, as OpenAI does.
func encodeBase64(vector []float32) string {
	raw := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
