// Package index turns the texts of tickets, comments, projects and documents into stored chunks
// with embeddings. It decides what is embedded again and what is kept, and leaves nothing stale if
// a text changes in the meantime. It does not know how models or the database are called.
package index

import (
	"context"

	"tasklens/internal/chunk"
	"tasklens/internal/vector"
)

// Database calls a Postgres function with named arguments, under the caller's identity.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model embeds at most MaxInputs texts of at most MaxTokens tokens together.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, tokens int, err error)
	EmbeddingModel() string // the configured one
}

// Indexer keeps chunks in step with texts. It is safe for concurrent use.
type Indexer struct {
	model     Model
	tokenizer chunk.Tokenizer
	limits    Limits
}

// Limits of one request to the model.
type Limits struct {
	Inputs int
	Tokens int
}

// New returns an Indexer.
func New(model Model, tokenizer chunk.Tokenizer, limits Limits) *Indexer {
	return &Indexer{model: model, tokenizer: tokenizer, limits: limits}
}

// Source is the unit of indexing: a ticket with its status notes, a comment (CommentID not nil), a
// project's own text (TicketID nil) or a document (DocumentID not empty). It is named by its ID, or
// by what it belongs to: then ID is 0, and looked up.
type Source struct {
	ID         int64  `json:"-"`
	ProjectID  int64  `json:"project_id,omitempty"`
	TicketID   *int64 `json:"ticket_id,omitempty"`
	CommentID  *int64 `json:"comment_id,omitempty"`
	DocumentID string `json:"document_id,omitempty"`
}

// Result is the outcome for one source.
type Result struct {
	Source
	Done         bool     // its chunks match its text, or it does not exist
	Found        bool     // false: no such project or document, no such ticket in the project, or no such comment on the ticket
	EmbeddingIDs []string // all stored chunks, in order
	Truncated    bool     // the end of its texts has no chunk
	Embedded     int      // chunks that were sent to the model
	Reused       int      // chunks that were kept
	Model        string   // of the stored chunks
	Tokens       int      // sent to the model for it, as counted by the tokenizer
}
