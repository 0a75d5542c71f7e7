package bench

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"tasklens/internal/wait"
	"tasklens/scripts/lab/offline"
)

const (
	repeatedQueries = 20 // of a load that the cache answers
	// answerThreshold is so low that there are always sources and the chat model is called.
	answerThreshold = 0.3
)

// Requests are what vegeta sends to a service, in its format of a target a line.
type Requests struct {
	Collection Collection
	Service    string // URL
	Path       string // of the service: /api/hybrid-search or /api/query
	Salt       int    // unique per run, so that every query is new
	Repeat     bool   // a few queries, so that the cache answers
}

// target is a request in vegeta's format; the body is sent in base64.
type target struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// Print writes requests until the reader has enough.
func (r Requests) Print(ctx context.Context, to io.Writer) error {
	encoder := json.NewEncoder(to)
	for i := 0; ctx.Err() == nil; i++ {
		query := r.Salt + i
		if r.Repeat {
			query = i % repeatedQueries
		}
		encoded, err := json.Marshal(body(r.Path, r.Collection.Query(query)))
		if err == nil {
			err = encoder.Encode(target{http.MethodPost, r.Service + r.Path, http.Header{"Content-Type": {"application/json"}}, encoded})
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// body returns the request for a text on a path.
func body(path, text string) map[string]any {
	if path == "/api/query" {
		return map[string]any{"question": text, "match_threshold": answerThreshold}
	}
	return map[string]any{"query": text, "limit": results}
}

// Delays are the response times of the model stand-in for an embedding and for a chat.
type Delays struct{ Embed, Chat time.Duration }

// NewModel returns the model server of a benchmark: the offline one, with the embeddings of the
// generated collection and realistic delays.
func NewModel(delays Delays) http.Handler {
	embed := func(text string) ([]float32, error) { return Embed(text), nil }
	models := offline.NewHandler(offline.WithEmbedder(model, embed))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delay := delays.Chat
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			delay = delays.Embed
		}
		if wait.For(r.Context(), delay) == nil {
			models.ServeHTTP(w, r)
		}
	})
}
