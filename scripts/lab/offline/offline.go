// Package offline owns a model server for where there is no API key: an http.Handler that speaks
// the part of OpenAI's API that the service uses, so that the service has one code path whatever
// answers. It needs no network and no model files, and says so by its model names. It must not know
// the tracker, the database or who calls; it reads no environment and logs nothing.
//
// Its embeddings come from words and a lexicon (package embed), its answers are sentences of the
// sources in the prompt (package extract). Both are deterministic.
package offline

import (
	"fmt"
	"net/http"
	"time"
)

// The models; any other name is a 404 as it is at OpenAI's. Both embedding models are one
// construction, on the scales of two of OpenAI's models.
const (
	EmbeddingModel     = "offline-embedding-3" // of text-embedding-3-small
	HighEmbeddingModel = "offline-embedding-2" // of text-embedding-ada-002
	NoiseModel         = "offline-noise"       // none: what it gives says nothing
	ChatModel          = "offline-chat"
)

// patience bounds reading a request and writing its response, where the server lets a handler set
// deadlines.
const patience = time.Minute

// NewHandler serves POST /v1/embeddings, POST /v1/chat/completions, GET /v1/models and GET
// /v1/models/{model}. It takes any API key and is meant for loopback only. It is safe for
// concurrent use.
func NewHandler(given ...Option) http.Handler {
	o := newOptions(given)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", delayed(o.embedDelay, o.serveEmbeddings))
	mux.HandleFunc("POST /v1/chat/completions", delayed(o.chatDelay, serveChat))
	mux.HandleFunc("GET /v1/models", serveModels)
	mux.HandleFunc("GET /v1/models/{model}", serveModel)
	for _, path := range []string{"/v1/embeddings", "/v1/chat/completions", "/v1/models", "/v1/models/{model}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			writeProblem(w, &problem{status: http.StatusMethodNotAllowed, message: fmt.Sprintf("Not allowed to %s on %s.", r.Method, r.URL.Path)})
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, &problem{status: http.StatusNotFound, code: "unknown_url", message: fmt.Sprintf("Unknown request URL: %s %s.", r.Method, r.URL.Path)})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control, end := http.NewResponseController(w), time.Now().Add(patience)
		_ = control.SetReadDeadline(end) // a writer without deadlines, such as a test's recorder, does without
		_ = control.SetWriteDeadline(end)
		mux.ServeHTTP(w, r)
	})
}
