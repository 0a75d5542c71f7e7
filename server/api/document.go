package api

import (
	"context"

	"tasklens/internal/knowledge"
)

// putDocument writes a document. Workers embed it.
func (a *API) putDocument(ctx context.Context, who *caller, draft *knowledge.Draft) (any, error) {
	written, isNew, err := knowledge.Put(ctx, who.db, *draft)
	if isNew {
		return created{written}, err
	}
	return written, err
}

// aDocument is a request about one.
type aDocument struct {
	ID string `path:"id" format:"uuid" example:"3f0e4b58-8f68-4d2f-a5d9-a521f7a0f5e3"`
}

type documentRequest struct {
	aDocument
	Visible bool `query:"visible" default:"false" doc:"Whether the content is as readers see it: without HTML comments, hidden elements and inline data. Else it is as stored."`
}

func (a *API) getDocument(ctx context.Context, who *caller, request *documentRequest) (knowledge.Document, error) {
	return knowledge.Get(ctx, who.db, request.ID, request.Visible)
}

func (a *API) deleteDocument(ctx context.Context, who *caller, request *aDocument) (none nothing, err error) {
	return none, knowledge.Delete(ctx, who.db, request.ID)
}

type feedbackRequest struct {
	aDocument
	Helpful bool `json:"helpful" example:"true"`
}

// rateDocument records the caller's vote.
func (a *API) rateDocument(ctx context.Context, who *caller, request *feedbackRequest) (none nothing, err error) {
	return none, knowledge.Rate(ctx, who.db, request.ID, request.Helpful)
}
