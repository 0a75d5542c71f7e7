package api

import (
	"github.com/gofiber/fiber/v2"

	"tasklens/internal/fault"
	"tasklens/internal/index"
)

type generateRequest struct {
	ProjectID int64  `json:"project_id"`
	TicketID  *int64 `json:"ticket_id"`
	CommentID *int64 `json:"comment_id"`
	Force     *bool  `json:"force"`
}

func (r *generateRequest) check(wrong report) {
	checkID(wrong, "project_id", &r.ProjectID)
	checkID(wrong, "ticket_id", r.TicketID)
	checkID(wrong, "comment_id", r.CommentID)
	wrong(r.CommentID != nil && r.TicketID == nil, "ticket_id", "must be the comment's ticket")
}

type generateResponse struct {
	Status       string   `json:"status"`
	EmbeddingIDs []string `json:"embedding_ids"`
	ProjectID    int64    `json:"project_id"`
	TicketID     *int64   `json:"ticket_id"`
	CommentID    *int64   `json:"comment_id,omitempty"`
	Chunks       int      `json:"chunks"`
	Embedded     int      `json:"embedded"`
	Reused       int      `json:"reused"`
	Tokens       int      `json:"tokens"`
	Model        string   `json:"model"`
}

// generateEmbeddings updates the chunks of one ticket, of a comment on it, or of a project's own
// text.
func (a *API) generateEmbeddings(c *fiber.Ctx) error {
	var request generateRequest
	if err := decode(c, &request); err != nil {
		return err
	}
	db, err := a.databaseFor(c, request.ProjectID)
	if err != nil {
		return err
	}
	source := index.Source{ProjectID: request.ProjectID, TicketID: request.TicketID, CommentID: request.CommentID}
	results, err := a.Indexer.Index(c.UserContext(), db, []index.Source{source}, or(request.Force, false))
	if err != nil {
		return err
	}
	result := results[0]
	if !result.Found && request.TicketID == nil {
		return fault.New(fault.NotFound, "There is no such project.")
	}
	if !result.Found && request.CommentID != nil {
		return fault.New(fault.NotFound, "There is no such comment on this ticket.")
	}
	if !result.Found {
		return fault.New(fault.NotFound, "There is no such ticket in this project.")
	}
	return c.JSON(generateResponse{
		Status: "success", EmbeddingIDs: result.EmbeddingIDs, ProjectID: request.ProjectID,
		TicketID: request.TicketID, CommentID: request.CommentID,
		Chunks: len(result.EmbeddingIDs), Embedded: result.Embedded, Reused: result.Reused, Tokens: result.Tokens, Model: result.Model,
	})
}
