package bench

import (
	"net/http"

	"tasklens/scripts/lab/offline"
)

// NewModel is the model server that the service asks while it is measured: the offline one, with
// the embeddings of the generated collection and, like a real one, its delays.
func NewModel(delays Delays) http.Handler {
	return offline.NewHandler(offline.Delay(delays.Embed, delays.Chat), offline.Embedder(Embed))
}
