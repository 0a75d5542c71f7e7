package offline

import (
	"net/http"
	"time"

	"tasklens/internal/offline/embed"
)

// Option changes how a handler answers.
type Option func(*options)

type options struct {
	embedDelay, chatDelay time.Duration
	embed                 func(text string, dimensions int) []float32
}

func newOptions(given []Option) options {
	o := options{embed: embed.Vector}
	for _, set := range given {
		set(&o)
	}
	return o
}

// Delay lets every embedding request, and every chat request, take so much longer: real models take their time.
func Delay(embed, chat time.Duration) Option {
	return func(o *options) { o.embedDelay, o.chatDelay = embed, chat }
}

// Embedder embeds by another function than the offline model's own. It gives so many numbers as it is asked for, and
// is safe for concurrent use.
func Embedder(embed func(text string, dimensions int) []float32) Option {
	return func(o *options) { o.embed = embed }
}

// delayed answers after a delay, or not at all when the client does not wait for it.
func delayed(delay time.Duration, next http.HandlerFunc) http.HandlerFunc {
	if delay <= 0 {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
		case <-timer.C:
			next(w, r)
		}
	}
}
