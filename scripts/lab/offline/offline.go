// Package offline is a model server for use without an API key: an http.Handler for the part of
// OpenAI's API that the service uses, so that the service has one code path for any provider. It
// needs no network and no model files, and its model names say so. It does not know the tracker,
// the database or the caller, reads no environment and logs nothing.
//
// Embeddings come from words and a lexicon (package embed); answers are sentences of the sources in
// the prompt (package extract). Both are deterministic.
package offline

import (
	"fmt"
	"net/http"
	"time"
)

// The models; any other name is a 404, as with OpenAI. The two embedding models differ only in
// scale: those of two of OpenAI's models.
const (
	EmbeddingModel     = "offline-embedding-3" // on the scale of text-embedding-3-small
	HighEmbeddingModel = "offline-embedding-2" // on the scale of text-embedding-ada-002
	NoiseModel         = "offline-noise"       // random vectors
	ChatModel          = "offline-chat"
)

// patience is the timeout for reading a request and for writing its response, if the server
// supports deadlines.
const patience = time.Minute

// NewHandler serves POST /v1/embeddings, POST /v1/chat/completions, GET /v1/models and GET
// /v1/models/{model}. It accepts any API key, so use it on loopback only. It is safe for concurrent
// use.
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
		_ = control.SetReadDeadline(end) // ignored for writers without deadlines, such as a test's recorder
		_ = control.SetWriteDeadline(end)
		mux.ServeHTTP(w, r)
	})
}
