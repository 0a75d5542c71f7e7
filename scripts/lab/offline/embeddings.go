package offline

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

type embeddingRequest struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	Dimensions     *int            `json:"dimensions"`
	EncodingFormat string          `json:"encoding_format"`
}

func (h handler) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	var request embeddingRequest
	p := readJSON(w, r, &request)
	var texts []string
	tokens := 0
	if p == nil {
		texts, tokens, p = request.check(h.embedders)
	}
	if p != nil {
		p.write(w)
		return
	}
	data := make([]object, len(texts))
	group, ctx := errgroup.WithContext(r.Context())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			vector, err := request.embed(h.embedders[request.Model], text)
			data[i] = object{"object": "embedding", "index": i, "embedding": vector}
			return err
		})
	}
	if err := group.Wait(); errors.As(err, &p) {
		p.write(w)
	} else if err == nil { // else the client has disconnected
		writeJSON(w, http.StatusOK, object{"object": "list", "model": request.Model, "data": data, "usage": object{"prompt_tokens": tokens, "total_tokens": tokens}})
	}
}

// embed returns a text's vector in the requested length and format.
func (e embeddingRequest) embed(model embedder, text string) (any, error) {
	vector, err := model(text)
	if err != nil {
		return nil, &problem{status: http.StatusInternalServerError, message: fmt.Sprintf("The model %s failed: %v.", e.Model, err)}
	}
	if d := e.Dimensions; d != nil {
		if *d < 1 || *d > len(vector) {
			return nil, invalid("dimensions", "'dimensions' must be from 1 to %d.", len(vector))
		}
		vector = shorten(vector, *d)
	}
	if e.EncodingFormat != "base64" {
		return vector, nil
	}
	raw, err := binary.Append(nil, binary.LittleEndian, vector)
	return base64.StdEncoding.EncodeToString(raw), err
}

// shorten returns a vector's first d numbers, with length 1 again.
func shorten(vector []float32, d int) []float32 {
	square := 0.0
	for _, x := range vector[:d] {
		square += float64(float64(x) * float64(x))
	}
	short := make([]float32, d)
	for i := range short {
		short[i] = float32(float64(vector[i]) / math.Sqrt(square))
	}
	return short
}

// check returns the texts of a valid request, a string or an array of strings, and their tokens.
func (e embeddingRequest) check(known map[string]embedder) (texts []string, tokens int, p *problem) {
	var one string
	if json.Unmarshal(e.Input, &one) == nil {
		texts = []string{one}
	} else if json.Unmarshal(e.Input, &texts) != nil {
		return nil, 0, invalid("input", "'input' must be a string or an array of strings; arrays of tokens are not supported.")
	}
	switch format := e.EncodingFormat; {
	case e.Model == "":
		return nil, 0, invalid("model", "You must provide a model parameter.")
	case known[e.Model] == nil:
		return nil, 0, modelNotFound(e.Model, slices.Sorted(maps.Keys(known))...)
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
