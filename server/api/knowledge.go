package api

import (
	"context"
	"encoding/json"
	"reflect"

	"tasklens/internal/knowledge"
)

type documentQuery struct {
	knowledge.Query
	Hybrid bool `query:"hybrid" default:"false" doc:"Order by ~final_score~ and return its parts."`
	Track  bool `query:"track" default:"true" doc:"Count the documents found as retrieved, in the background."`
}

type documentResults struct {
	Results foundDocuments `json:"results" max:"100"`
}

// foundDocuments are []knowledge.Found or, with hybrid, []knowledge.Weighed.
type foundDocuments struct{ list any }

func (f foundDocuments) MarshalJSON() ([]byte, error) { return json.Marshal(f.list) }

func (foundDocuments) elements() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[knowledge.Found](), reflect.TypeFor[knowledge.Weighed]()}
}

// searchDocuments finds documents by meaning or, with hybrid, by the weighted score.
func (a *API) searchDocuments(ctx context.Context, who *caller, request *documentQuery) (response documentResults, err error) {
	query := request.Query
	query.Text = normal(query.Text)
	query.Embedding = a.Embeddings.Query(a.EmbeddingModel, query.Text)
	var found []string
	if request.Hybrid {
		weighed, err := knowledge.Hybrid(ctx, who.db, query)
		if err != nil {
			return response, err
		}
		for _, document := range weighed {
			found = append(found, document.ID)
		}
		response.Results.list = weighed
	} else {
		similar, err := knowledge.Search(ctx, who.db, query)
		if err != nil {
			return response, err
		}
		for _, document := range similar {
			found = append(found, document.ID)
		}
		response.Results.list = similar
	}
	if request.Track {
		a.Tracker.Retrieved(found, query.Text)
	}
	return response, nil
}

type similarDocumentsRequest struct {
	aDocument
	Limit int `query:"limit" min:"1" max:"100" default:"5"`
}

// similarDocuments finds documents similar to one.
func (a *API) similarDocuments(ctx context.Context, who *caller, request *similarDocumentsRequest) (list[knowledge.Similar], error) {
	return listed(knowledge.SimilarTo(ctx, who.db, request.ID, request.Limit))
}

// documentsByEntity finds documents that name an entity.
func (a *API) documentsByEntity(ctx context.Context, who *caller, request *knowledge.EntityQuery) (list[knowledge.Named], error) {
	return listed(knowledge.ByEntity(ctx, who.db, *request))
}
