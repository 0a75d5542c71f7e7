package api

import (
	"context"

	"tasklens/internal/fault"
	"tasklens/internal/index"
)

type generateRequest struct {
	ProjectID int64  `json:"project_id" min:"1" example:"123"`
	TicketID  *int64 `json:"ticket_id" min:"1" example:"456" doc:"Left out: the project's own name and description."`
	CommentID *int64 `json:"comment_id" min:"1" doc:"A comment instead of the ticket's own text; requires ~ticket_id~."`
	Force     bool   `json:"force" default:"false" doc:"Embed every chunk again, even if unchanged."`
}

func (r *generateRequest) check(wrong report) {
	wrong(r.CommentID != nil && r.TicketID == nil, "ticket_id", "must be the comment's ticket")
}

type generateResponse struct {
	Status       string   `json:"status" enum:"success"`
	EmbeddingIDs []string `json:"embedding_ids" format:"uuid" example:"[\"0b6a3c0e-5f0b-4a51-9d0f-6f7f2f6f3b11\", \"5d3c5e0f-98f5-4a0c-b1ba-0f0c80a0e6f2\", \"c2a4c6c2-3a29-4d3b-9a3f-8a3b9f6f7d10\"]" doc:"All stored chunks, the ticket's own text before its notes."`
	ProjectID    int64    `json:"project_id" min:"1" example:"123"`
	TicketID     *int64   `json:"ticket_id" min:"1" example:"456"`
	CommentID    *int64   `json:"comment_id,omitempty" min:"1" doc:"Only where a comment was embedded."`
	Chunks       int      `json:"chunks" min:"0" example:"3" doc:"Stored."`
	Embedded     int      `json:"embedded" min:"0" example:"1" doc:"Embedded by this call."`
	Reused       int      `json:"reused" min:"0" example:"2" doc:"Kept."`
	Truncated    bool     `json:"truncated" doc:"What follows the 200,000th character of a text, or the 2,000th chunk, has no chunk."`
	Tokens       int      `json:"tokens" min:"0" example:"412" doc:"Sent to the model by this call."`
	Model        string   `json:"model" example:"text-embedding-3-small" doc:"The embedding model."`
}

// generateEmbeddings updates the chunks of one ticket, of a comment on it, or of a project's own
// text.
func (a *API) generateEmbeddings(ctx context.Context, who *caller, request *generateRequest) (response generateResponse, err error) {
	db, err := a.databaseFor(ctx, who, request.ProjectID)
	if err != nil {
		return response, err
	}
	source := index.Source{ProjectID: request.ProjectID, TicketID: request.TicketID, CommentID: request.CommentID}
	result, err := a.Indexer.Index(ctx, db, source, request.Force)
	if err != nil {
		return response, err
	}
	if !result.Found && request.TicketID == nil {
		return response, fault.New(fault.NotFound, "There is no such project.")
	}
	if !result.Found && request.CommentID != nil {
		return response, fault.New(fault.NotFound, "There is no such comment on this ticket.")
	}
	if !result.Found {
		return response, fault.New(fault.NotFound, "There is no such ticket in this project.")
	}
	return generateResponse{
		Status: "success", EmbeddingIDs: result.EmbeddingIDs, ProjectID: request.ProjectID,
		TicketID: request.TicketID, CommentID: request.CommentID,
		Chunks: len(result.EmbeddingIDs), Embedded: result.Embedded, Reused: result.Reused, Truncated: result.Truncated, Tokens: result.Tokens, Model: result.Model,
	}, nil
}
