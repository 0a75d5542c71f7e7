package offline

import (
	"net/http"
	"sync"
	"time"

	"tasklens/scripts/lab/offline/embed"
)

// Option changes how a handler answers.
type Option func(*options)

type options struct {
	embedDelay, chatDelay time.Duration
	embedders             map[string]func(text string, dimensions int) []float32 // by model name
}

func newOptions(given []Option) options {
	o := options{embedders: map[string]func(text string, dimensions int) []float32{
		EmbeddingModel: embed.Of3Small.Vector, HighEmbeddingModel: embed.High.Vector, NoiseModel: embed.Noise,
	}}
	for _, set := range given {
		set(&o)
	}
	return o
}

// Delay sets the minimum time of embedding requests and of chat requests, to simulate real models.
func Delay(embed, chat time.Duration) Option {
	return func(o *options) { o.embedDelay, o.chatDelay = embed, chat }
}

// Embedder replaces EmbeddingModel's function. It must return the requested number of dimensions
// and be safe for concurrent use.
func Embedder(embed func(text string, dimensions int) []float32) Option {
	return func(o *options) { o.embedders[EmbeddingModel] = embed }
}

// delayed delays a response, unless the client disconnects.
func delayed(delay time.Duration, next http.HandlerFunc) http.HandlerFunc {
	if delay <= 0 {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		held := &heldWriter{ResponseWriter: w}
		held.wait = sync.OnceFunc(func() {
			select {
			case <-r.Context().Done(): // the client has disconnected
			case <-timer.C:
			}
		})
		next(held, r)
	}
}

// heldWriter delays the first byte, so that computing the response counts towards the delay.
type heldWriter struct {
	http.ResponseWriter
	wait func()
}

func (w *heldWriter) WriteHeader(status int) {
	w.wait()
	w.ResponseWriter.WriteHeader(status)
}

func (w *heldWriter) Write(data []byte) (int, error) {
	w.wait()
	return w.ResponseWriter.Write(data)
}

// Unwrap gives http.ResponseController access to the flusher.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
