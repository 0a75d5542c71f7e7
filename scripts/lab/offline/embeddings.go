package offline

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"runtime"

	"golang.org/x/sync/errgroup"

	"tasklens/scripts/lab/offline/embed"
)

type embeddingRequest struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	Dimensions     *int            `json:"dimensions"`
	EncodingFormat string          `json:"encoding_format"`
}

func (o options) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	var request embeddingRequest
	p := readJSON(w, r, &request)
	var texts []string
	tokens := 0
	if p == nil {
		texts, tokens, p = request.check(o.embedders)
	}
	if p != nil {
		p.write(w)
		return
	}
	dimensions := embed.Dimensions
	if request.Dimensions != nil {
		dimensions = *request.Dimensions
	}
	data := make([]object, len(texts))
	group, ctx := errgroup.WithContext(r.Context())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var vector any = o.embedders[request.Model](text, dimensions)
			if request.EncodingFormat == "base64" { // float32, little-endian
				raw, _ := binary.Append(nil, binary.LittleEndian, vector) // numbers
				vector = base64.StdEncoding.EncodeToString(raw)
			}
			data[i] = object{"object": "embedding", "index": i, "embedding": vector}
			return nil
		})
	}
	if group.Wait() == nil { // else the client has disconnected
		writeJSON(w, http.StatusOK, object{"object": "list", "model": request.Model, "data": data, "usage": object{"prompt_tokens": tokens, "total_tokens": tokens}})
	}
}

// check returns the texts of a valid request, a string or an array of strings, and their tokens.
func (e embeddingRequest) check(embedders map[string]embedder) (texts []string, tokens int, p *problem) {
	var one string
	if json.Unmarshal(e.Input, &one) == nil {
		texts = []string{one}
	} else if json.Unmarshal(e.Input, &texts) != nil {
		return nil, 0, invalid("input", "'input' must be a string or an array of strings; arrays of tokens are not supported.")
	}
	switch d, format := e.Dimensions, e.EncodingFormat; {
	case e.Model == "":
		return nil, 0, invalid("model", "You must provide a model parameter.")
	case embedders[e.Model] == nil:
		return nil, 0, modelNotFound(e.Model)
	case d != nil && (*d < 1 || *d > embed.Dimensions):
		return nil, 0, invalid("dimensions", "'dimensions' must be from 1 to %d.", embed.Dimensions)
	case format != "" && format != "float" && format != "base64":
		return nil, 0, invalid("encoding_format", "'encoding_format' must be \"float\" or \"base64\".")
	case len(texts) == 0 || len(texts) > maxInputs:
		return nil, 0, invalid("input", "'input' must hold 1 to %d strings, not %d.", maxInputs, len(texts))
	}
	for i, text := range texts {
		n := countTokens(text)
		if n == 0 || n > maxInputTokens {
			return nil, 0, invalid("input", "Input %d has about %d tokens, not 1 to %d.", i, n, maxInputTokens)
		}
		tokens += n
	}
	if tokens > maxRequestTokens {
		p = invalid("input", "The inputs have about %d tokens; the maximum is %d a request.", tokens, maxRequestTokens)
		p.code = "max_tokens_per_request"
	}
	return texts, tokens, p
}
