package offline

import (
	"net/http"
	"slices"
)

var models = []string{EmbeddingModel, HighEmbeddingModel, NoiseModel, ChatModel}

type modelList struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModel(id string) model { return model{ID: id, Object: "model", OwnedBy: "tasklens"} }

func serveModels(w http.ResponseWriter, _ *http.Request) {
	list := modelList{Object: "list"}
	for _, id := range models {
		list.Data = append(list.Data, newModel(id))
	}
	writeJSON(w, http.StatusOK, list)
}

func serveModel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("model")
	if !slices.Contains(models, id) {
		writeProblem(w, modelNotFound(id))
		return
	}
	writeJSON(w, http.StatusOK, newModel(id))
}
