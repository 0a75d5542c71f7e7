// Package index turns the texts of tickets, comments, projects and documents into stored chunks
// with embeddings. It owns what is embedded again and what is kept, and that nothing stale is left
// behind when a text changes meanwhile. It knows neither how models are asked nor how the database
// is reached.
package index

import (
	"context"

	"tasklens/internal/chunk"
	"tasklens/internal/vector"
)

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// Model embeds texts, at most MaxInputs of at most MaxTokens tokens together.
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

// New makes an indexer.
func New(model Model, tokenizer chunk.Tokenizer, limits Limits) *Indexer {
	return &Indexer{model: model, tokenizer: tokenizer, limits: limits}
}

// Source is what is indexed as one: a ticket with its status notes, a comment on it (CommentID not
// nil), a project's own text (TicketID nil), or, where DocumentID is not empty, a document.
type Source struct {
	ProjectID  int64
	TicketID   *int64
	CommentID  *int64
	DocumentID string
}

// same tells whether both are one source.
func (s Source) same(other Source) bool {
	return s.DocumentID == other.DocumentID && s.ProjectID == other.ProjectID && equal(s.TicketID, other.TicketID) && equal(s.CommentID, other.CommentID)
}

// Result tells what was done for one source.
type Result struct {
	Source
	Done         bool     // its chunks are in step with its text, or it does not exist
	Found        bool     // false: there is no such project or document, no such ticket in the project, or no such comment on the ticket
	EmbeddingIDs []string // all stored chunks, in order
	Embedded     int      // chunks that were sent to the model
	Reused       int      // chunks that were kept
	Model        string   // of the stored chunks
	Tokens       int      // sent to the model for it, by the tokenizer's count
}
