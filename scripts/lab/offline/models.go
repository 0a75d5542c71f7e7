package offline

import "net/http"

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
	writeJSON(w, http.StatusOK, modelList{Object: "list", Data: []model{newModel(EmbeddingModel), newModel(ChatModel)}})
}

func serveModel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("model")
	if id != EmbeddingModel && id != ChatModel {
		writeProblem(w, modelNotFound(id))
		return
	}
	writeJSON(w, http.StatusOK, newModel(id))
}
