package api

import (
	"context"
	"encoding/json"
	"reflect"

	"tasklens/internal/knowledge"
)

type documentQuery struct {
	Text      string  `query:"q" length:"2000"`
	Hybrid    bool    `query:"hybrid" default:"false" doc:"Order by ~final_score~ and return its parts."`
	Limit     int     `query:"limit" min:"1" max:"100" default:"10"`
	Threshold float64 `query:"threshold" min:"0" max:"1" default:"0.3" doc:"The similarity that a document must exceed."`
	Track     bool    `query:"track" default:"true" doc:"Count the documents found as retrieved, in the background."`
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
	text := normal(request.Text)
	query := knowledge.Query{Text: text, Limit: request.Limit, Threshold: request.Threshold, Embedding: a.Embeddings.Query(a.EmbeddingModel, text)}
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
		a.Tracker.Retrieved(found, text)
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

type entityRequest struct {
	Name  string  `path:"name" length:"200"`
	Type  *string `query:"type" length:"200" doc:"Only entities of this type, case ignored."`
	Limit int     `query:"limit" min:"1" max:"100" default:"10"`
}

// documentsByEntity finds documents that name an entity.
func (a *API) documentsByEntity(ctx context.Context, who *caller, request *entityRequest) (list[knowledge.Named], error) {
	return listed(knowledge.ByEntity(ctx, who.db, request.Name, request.Type, request.Limit))
}
