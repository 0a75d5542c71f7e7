package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/knowledge"
)

// putDocument writes a document. Workers embed it.
func (a *API) putDocument(c *fiber.Ctx, draft *knowledge.Draft) (written knowledge.Written, err error) {
	db, err := a.database(c)
	if err != nil {
		return written, err
	}
	written, created, err := knowledge.Put(c.UserContext(), db, *draft)
	if created {
		c.Status(fiber.StatusCreated)
	}
	return written, err
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
