package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/knowledge"
)

type documentRequest struct {
	Title         string    `json:"title" length:"500" example:"Why we chose Raft"`
	Content       string    `json:"content" example:"The ledger's replicas agree by Raft, because Ann's team can explain it." doc:"May be empty; then the title is embedded."`
	ID            *string   `json:"id" format:"uuid" doc:"Left out: a new document."`
	Keywords      *[]string `json:"keywords" length:"100" example:"[\"raft\", \"consensus\"]" doc:"They replace the keywords of the previous request; left out or null, those stay. Keywords added in the database stay, and enrichment only adds to them."`
	TemporalClass *string   `json:"temporal_class" enum:"evergreen,current,dated,historical,unknown" example:"evergreen" doc:"How long the document's content holds; left out, unchanged."`
	Archived      *bool     `json:"archived" doc:"Whether search leaves the document out; left out, unchanged."`
}

type documentWritten struct {
	ID              string `json:"id" format:"uuid"`
	EmbeddingStatus string `json:"embedding_status" enum:"pending,complete,failed" doc:"Whether the current text is embedded, waits to be, or was given up."`
}

// putDocument writes a document. Workers embed it.
func (a *API) putDocument(c *fiber.Ctx, request *documentRequest) (response documentWritten, err error) {
	db, err := a.database(c)
	if err != nil {
		return response, err
	}
	written, err := knowledge.Put(c.UserContext(), db, knowledge.Draft{
		ID: request.ID, Title: request.Title, Content: request.Content, Keywords: request.Keywords,
		TemporalClass: request.TemporalClass, Archived: request.Archived,
	})
	if written.Created {
		c.Status(fiber.StatusCreated)
	}
	return documentWritten{ID: written.ID, EmbeddingStatus: written.EmbeddingStatus}, err
}

// aDocument is a request about one.
type aDocument struct {
	ID string `path:"id" format:"uuid" example:"3f0e4b58-8f68-4d2f-a5d9-a521f7a0f5e3"`
}

func (a *API) getDocument(c *fiber.Ctx, request *aDocument) (document knowledge.Document, err error) {
	db, err := a.database(c)
	if err != nil {
		return document, err
	}
	return knowledge.Get(c.UserContext(), db, request.ID)
}

func (a *API) deleteDocument(c *fiber.Ctx, request *aDocument) (none nothing, err error) {
	db, err := a.database(c)
	if err != nil {
		return none, err
	}
	return none, knowledge.Delete(c.UserContext(), db, request.ID)
}

type feedbackRequest struct {
	aDocument
	Helpful bool `json:"helpful" example:"true"`
}

// rateDocument records the caller's vote.
func (a *API) rateDocument(c *fiber.Ctx, request *feedbackRequest) (none nothing, err error) {
	db, err := a.database(c)
	if err != nil {
		return none, err
	}
	return none, knowledge.Rate(c.UserContext(), db, request.ID, request.Helpful)
}
