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
	embedders             map[string]func(text string, dimensions int) []float32 // by model
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

// Delay lets every embedding request, and every chat request, take so long, or longer where
// answering does: real models take their time.
func Delay(embed, chat time.Duration) Option {
	return func(o *options) { o.embedDelay, o.chatDelay = embed, chat }
}

// Embedder embeds by another function than EmbeddingModel's own. It gives so many numbers as it is
// asked for, and is safe for concurrent use.
func Embedder(embed func(text string, dimensions int) []float32) Option {
	return func(o *options) { o.embedders[EmbeddingModel] = embed }
}

// delayed holds an answer back, as long as the client waits for it.
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
			case <-r.Context().Done(): // nobody reads it
			case <-timer.C:
			}
		})
		next(held, r)
	}
}

// heldWriter waits before anything is sent, so that the work for it is part of the time that it
// takes.
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

// Unwrap lets http.ResponseController reach what flushes.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
