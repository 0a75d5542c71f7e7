package api

import (
	"encoding/json"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"tasklens/internal/knowledge"
)

type documentQuery struct {
	Text      string  `query:"q" length:"2000" doc:"The query, 1 to 2,000 characters once trimmed."`
	Hybrid    bool    `query:"hybrid" default:"false" doc:"Order by ~final_score~ and return its parts."`
	Limit     int     `query:"limit" min:"1" max:"100" default:"10" doc:"The most results."`
	Threshold float64 `query:"threshold" min:"0" max:"1" default:"0.3" doc:"The similarity that a document must exceed."`
	Track     bool    `query:"track" default:"true" doc:"Count the documents found as retrieved."`
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
func (a *API) searchDocuments(c *fiber.Ctx, request *documentQuery) error {
	text := normal(request.Text)
	db, err := a.database(c)
	if err != nil {
		return err
	}
	query := knowledge.Query{Text: text, Limit: request.Limit, Threshold: request.Threshold, Embedding: a.Embeddings.Query(a.EmbeddingModel, text)}
	var found []string
	var response documentResults
	if request.Hybrid {
		weighed, err := knowledge.Hybrid(c.UserContext(), db, query)
		if err != nil {
			return err
		}
		for _, document := range weighed {
			found = append(found, document.ID)
		}
		response.Results.list = weighed
	} else {
		similar, err := knowledge.Search(c.UserContext(), db, query)
		if err != nil {
			return err
		}
		for _, document := range similar {
			found = append(found, document.ID)
		}
		response.Results.list = similar
	}
	if err := c.JSON(response); err != nil {
		return err
	}
	if request.Track {
		a.Tracker.Retrieved(found, text)
	}
	return nil
}

type similarDocumentsRequest struct {
	aDocument
	Limit int `query:"limit" min:"1" max:"100" default:"5" doc:"The most results."`
}

// similarDocuments finds documents similar to one.
func (a *API) similarDocuments(c *fiber.Ctx, request *similarDocumentsRequest) (found list[knowledge.Similar], err error) {
	db, err := a.database(c)
	if err != nil {
		return found, err
	}
	found.Results, err = knowledge.SimilarTo(c.UserContext(), db, request.ID, request.Limit)
	return found, err
}

type entityRequest struct {
	Name  string  `path:"name" length:"200"`
	Type  *string `query:"type" length:"200" doc:"Only entities of this type, without regard to case."`
	Limit int     `query:"limit" min:"1" max:"100" default:"10" doc:"The most results."`
}

// documentsByEntity finds documents that name an entity.
func (a *API) documentsByEntity(c *fiber.Ctx, request *entityRequest) (found list[knowledge.Named], err error) {
	db, err := a.database(c)
	if err != nil {
		return found, err
	}
	found.Results, err = knowledge.ByEntity(c.UserContext(), db, request.Name, request.Type, request.Limit)
	return found, err
}
