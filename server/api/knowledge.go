package api

import (
	"context"

	"tasklens/internal/answer"
	"tasklens/internal/knowledge"
	"tasklens/internal/querylog"
)

type documentQuery struct {
	knowledge.Query
	Track bool `query:"track" default:"true" doc:"Count the documents found as retrieved, in the background."`
}

// searchDocuments finds documents by meaning or, with hybrid, by the weighted score.
func (a *API) searchDocuments(ctx context.Context, who *caller, request *documentQuery) (list[knowledge.Found], error) {
	now, err := a.present(ctx, who, answer.Documents, nil)
	if err != nil {
		return list[knowledge.Found]{}, err
	}
	query := request.Query
	query.Text = normal(query.Text)
	query.Embedding = a.Embeddings.Query(now.Model, query.Text)
	found, err := knowledge.Search(ctx, who.db, query)
	if request.Track && len(found) > 0 {
		var ids []string
		for _, document := range found {
			ids = append(ids, document.ID)
		}
		a.Tracker.Add(querylog.Retrieval{Documents: ids, Query: query.Text})
	}
	return listed(found, err)
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
