package api

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/knowledge"
	"tasklens/internal/postgrest"
)

const (
	maxTitleCharacters   = 500
	maxKeywordCharacters = 100
)

// temporalClasses say how long a document's content stays valid.
var temporalClasses = []string{"evergreen", "current", "dated", "historical", "unknown"}

type documentRequest struct {
	Title         string    `json:"title"`
	Content       string    `json:"content"`
	ID            *string   `json:"id"`
	Keywords      *[]string `json:"keywords"`
	TemporalClass *string   `json:"temporal_class"`
	Archived      *bool     `json:"archived"`
}

func (r *documentRequest) check(wrong report) {
	checkLength(wrong, "title", &r.Title, maxTitleCharacters)
	wrong(r.ID != nil && !isUUID(*r.ID), "id", "must be a UUID")
	keywords := or(r.Keywords, nil)
	for i := range keywords {
		checkLength(wrong, "keywords", &keywords[i], maxKeywordCharacters)
	}
	wrong(!slices.Contains(temporalClasses, or(r.TemporalClass, "unknown")), "temporal_class", "must be one of %s", strings.Join(temporalClasses, ", "))
}

type documentResponse struct {
	ID              string `json:"id"`
	EmbeddingStatus string `json:"embedding_status"`
}

// putDocument writes a document. Workers embed it.
func (a *API) putDocument(c *fiber.Ctx) error {
	var request documentRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	written, err := knowledge.Put(c.UserContext(), db, knowledge.Draft{
		ID: request.ID, Title: request.Title, Content: request.Content, Keywords: request.Keywords,
		TemporalClass: request.TemporalClass, Archived: request.Archived,
	})
	if err != nil {
		return err
	}
	if written.Created {
		c.Status(fiber.StatusCreated)
	}
	return c.JSON(documentResponse{ID: written.ID, EmbeddingStatus: written.EmbeddingStatus})
}

// oneDocument parses the document's id from the path and allows no query parameters.
func (a *API) oneDocument(c *fiber.Ctx) (db *postgrest.Session, id string, err error) {
	p := parameters{c: c}
	id = p.pathUUID("id")
	if err := p.err(); err != nil {
		return nil, "", err
	}
	db, err = a.database(c)
	return db, id, err
}

func (a *API) getDocument(c *fiber.Ctx) error {
	db, id, err := a.oneDocument(c)
	if err != nil {
		return err
	}
	document, err := knowledge.Get(c.UserContext(), db, id)
	if err != nil {
		return err
	}
	return c.JSON(document)
}

func (a *API) deleteDocument(c *fiber.Ctx) error {
	db, id, err := a.oneDocument(c)
	if err != nil {
		return err
	}
	if err := knowledge.Delete(c.UserContext(), db, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

type feedbackRequest struct {
	Helpful bool `json:"helpful"`
}

func (r *feedbackRequest) check(report) {}

// rateDocument records the caller's vote.
func (a *API) rateDocument(c *fiber.Ctx) error {
	db, id, err := a.oneDocument(c)
	if err != nil {
		return err
	}
	var request feedbackRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	if err := knowledge.Rate(c.UserContext(), db, id, request.Helpful); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
