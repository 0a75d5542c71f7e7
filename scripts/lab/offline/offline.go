// Package offline is a model server for use without an API key: an http.Handler for the part of
// OpenAI's API that the service uses, so that the service has one code path for any provider. It
// needs no network and no model files. It does not know the tracker, the database or the caller,
// reads no environment and logs nothing.
//
// Embeddings come from words (package words), or from models that the caller adds; answers are
// sentences of the sources in the prompt (package extract), or a call of the tool (package
// figures). All of its own are deterministic.
package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"tasklens/scripts/lab/offline/words"
)

// The models that are always there. Any other name is a 404, as with OpenAI, unless WithEmbedder
// adds it.
const (
	EmbeddingModel = "words-1"
	ChatModel      = "offline-chat"
)

// An embedder returns a text's vector.
type embedder = func(text string) ([]float32, error)

// Option adds to a handler.
type Option func(*handler)

type handler struct {
	embedders map[string]embedder // by model name
	meaning   embedder            // by which answers compare sentences; nil to compare words alone
}

// WithEmbedder adds an embedding model, by which answers compare sentences too, or replaces
// words-1. Its vectors are of one length, of which requests may ask for the first dimensions. It
// must be safe for concurrent use; its error is a 500.
func WithEmbedder(model string, embed func(text string) ([]float32, error)) Option {
	return func(h *handler) {
		h.embedders[model] = embed
		if model != EmbeddingModel {
			h.meaning = embed
		}
	}
}

// NewHandler serves POST /v1/embeddings and POST /v1/chat/completions. It accepts any API key, so
// use it on loopback only. It is safe for concurrent use.
func NewHandler(options ...Option) http.Handler {
	h := handler{embedders: map[string]embedder{EmbeddingModel: func(text string) ([]float32, error) { return words.Vector(text), nil }}}
	for _, add := range options {
		add(&h)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", h.serveEmbeddings)
	mux.HandleFunc("POST /v1/chat/completions", h.serveChat)
	return mux
}

type object = map[string]any

// A problem is an error in OpenAI's format.
type problem struct {
	status  int
	code    any // such as model_not_found; nil is null in JSON
	param   any // the invalid field
	message string
}

func invalid(param, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, nil, param, fmt.Sprintf(format, args...)}
}

func modelNotFound(model string, known ...string) *problem {
	message := fmt.Sprintf("The model %.100q does not exist here; there is %s.", model, strings.Join(known, ", "))
	return &problem{http.StatusNotFound, "model_not_found", "model", message}
}

func (p *problem) Error() string { return p.message }

func (p *problem) write(w http.ResponseWriter) {
	kind := "invalid_request_error"
	if p.status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	writeJSON(w, p.status, object{"error": object{"message": p.message, "type": kind, "param": p.param, "code": p.code}})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

// Limits of OpenAI's API, and of a request's bytes.
const (
	maxInputs        = 2048
	maxInputTokens   = 8191
	maxRequestTokens = 300_000
	maxChatTokens    = 128_000
	maxBody          = 8 << 20
)

// countTokens estimates the tokens of English.
func countTokens(text string) int { return (len(text) + 3) / 4 }

// readJSON decodes the body. Unsupported fields are ignored.
func readJSON(w http.ResponseWriter, r *http.Request, into any) *problem {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &problem{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("The request is larger than %d bytes.", maxBody)}
	}
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return invalid(wrongType.Field, "Invalid type for '%s': got %s.", wrongType.Field, wrongType.Value)
	case err != nil:
		return &problem{status: http.StatusBadRequest, message: fmt.Sprintf("We could not parse the JSON body of your request: %v.", err)}
	}
	return nil
}
