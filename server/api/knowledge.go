package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/knowledge"
)

const (
	// defaultDocumentThreshold is the default for documents, whatever the model.
	defaultDocumentThreshold = 0.3
	maxEntityCharacters      = 200
)

// searchDocuments finds documents by meaning or, with hybrid, by the weighted score.
func (a *API) searchDocuments(c *fiber.Ctx) error {
	p := parameters{c: c}
	text := or(p.text("q"), "")
	checkText(p.wrong, "q", &text)
	hybrid, track := p.boolean("hybrid", false), p.boolean("track", true)
	query := knowledge.Query{Text: text, Limit: p.integer("limit", defaultLimit, 1, maxLimit), Threshold: p.unit("threshold", defaultDocumentThreshold)}
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	embedding := a.Embeddings.Begin(c.UserContext(), a.EmbeddingModel, text)
	defer embedding.GiveUp()
	query.Embedding = embedding
	var found []string
	var results any
	if hybrid {
		weighed, err := knowledge.Hybrid(c.UserContext(), db, query)
		if err != nil {
			return err
		}
		for _, document := range weighed {
			found = append(found, document.ID)
		}
		results = weighed
	} else {
		similar, err := knowledge.Search(c.UserContext(), db, query)
		if err != nil {
			return err
		}
		for _, document := range similar {
			found = append(found, document.ID)
		}
		results = similar
	}
	if err := c.JSON(fiber.Map{"results": results}); err != nil {
		return err
	}
	if track {
		a.Tracker.Retrieved(found, text)
	}
	return nil
}

// similarDocuments finds documents similar to one.
func (a *API) similarDocuments(c *fiber.Ctx) error {
	p := parameters{c: c}
	id, limit := p.pathUUID("id"), p.integer("limit", defaultSimilar, 1, maxLimit)
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	results, err := knowledge.SimilarTo(c.UserContext(), db, id, limit)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"results": results})
}

// documentsByEntity finds documents that name an entity.
func (a *API) documentsByEntity(c *fiber.Ctx) error {
	p := parameters{c: c}
	name, kind, limit := p.pathText("name"), p.text("type"), p.integer("limit", defaultLimit, 1, maxLimit)
	checkLength(p.wrong, "name", &name, maxEntityCharacters)
	if kind != nil {
		checkLength(p.wrong, "type", kind, maxEntityCharacters)
	}
	if err := p.err(); err != nil {
		return err
	}
	db, err := a.database(c)
	if err != nil {
		return err
	}
	results, err := knowledge.ByEntity(c.UserContext(), db, name, kind, limit)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"results": results})
}
