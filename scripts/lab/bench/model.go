package bench

import (
	"net/http"

	"tasklens/scripts/lab/offline"
)

// NewModel returns the model server of a benchmark: the offline one, with the embeddings of the
// generated collection and realistic delays.
func NewModel(delays Delays) http.Handler {
	return offline.NewHandler(offline.Delay(delays.Embed, delays.Chat), offline.Embedder(Embed))
}
