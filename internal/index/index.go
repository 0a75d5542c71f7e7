// Package index turns the texts of tickets, comments, projects and documents into stored chunks
// with embeddings: it reads a text, cuts it, keeps the stored chunks that are the same, embeds the
// others and stores them, unless the text has changed in the meantime. It does not know how models
// or the database are called.
package index

import (
	"cmp"
	"context"
	"errors"

	"tasklens/internal/chunk"
	"tasklens/internal/fault"
	"tasklens/internal/rpc"
	"tasklens/internal/vector"
)

// Model embeds texts. cut are the places of those that it takes only without their end. With an
// error, vectors may have those that were embedded nevertheless; fault.ErrInput: the others are
// refused for themselves.
type Model interface {
	Embed(ctx context.Context, model string, inputs []string) (vectors []vector.Vector, cut []int, err error)
	EmbeddingModel() string // the configured one
}

// Indexer keeps chunks in step with texts. It is safe for concurrent use.
type Indexer struct {
	model     Model
	tokenizer chunk.Tokenizer
}

// New returns an Indexer.
func New(model Model, tokenizer chunk.Tokenizer) *Indexer {
	return &Indexer{model: model, tokenizer: tokenizer}
}

// Source is the unit of indexing, named by what it belongs to: a ticket with its status notes, a
// comment (CommentID not nil), a project's own text (TicketID nil) or a document (DocumentID not
// empty). The database has an id for each.
type Source struct {
	ProjectID  int64  `json:"project_id,omitempty"`
	TicketID   *int64 `json:"ticket_id,omitempty"`
	CommentID  *int64 `json:"comment_id,omitempty"`
	DocumentID string `json:"document_id,omitempty"`
}

// Result is the outcome for one source.
type Result struct {
	Err          error    // ErrUndone, ErrLarge or its own failure; nil: its chunks match its text, or it does not exist
	Found        bool     // false: no such project or document, no such ticket in the project, or no such comment on the ticket
	EmbeddingIDs []string // all stored chunks, in order
	Truncated    bool     // the end of its texts has no chunk, or the model does not take the end of one
	Embedded     int      // chunks that were sent to the model
	Reused       int      // chunks that were kept
	Model        string   // of the stored chunks
	Tokens       int      // sent to the model for it, as counted by the tokenizer
	id           int64
	set          set // that was read
}

// ErrUndone means that a source should be tried again: its text keeps changing, another writer
// holds it, or it was not reached.
var ErrUndone error = fault.New(fault.Unavailable, "The text is being changed by other transactions.")

// ErrLarge means that storing a source takes long and it was left out because it was not alone.
// Alone it is indexed.
var ErrLarge = errors.New("to be embedded alone")

// Index brings the chunks of a source in step with its texts. Unchanged chunks keep their ids and
// are not sent to the model, unless force is set.
func (x *Indexer) Index(ctx context.Context, db rpc.Caller, source Source, force bool) (Result, error) {
	found, err := rpc.All[struct {
		ID int64 `json:"source_id"`
	}](ctx, db, "find_sources", map[string]any{"sources": []Source{source}})
	if err != nil || len(found) == 0 {
		return Result{}, err
	}
	r := run{Indexer: x, db: db, force: force}
	results, err := r.index(ctx, []int64{found[0].ID})
	return *results[0], cmp.Or(err, results[0].Err)
}

// Sync is Index of several sources, by their ids, for callers that come back. It returns why each
// is not done, nil for those that are, and why nothing more could be done now. While another set of
// chunks is being built, a source is done when it is in step in both sets; a set with another
// chunking is left to other programs.
func (x *Indexer) Sync(ctx context.Context, db rpc.Caller, ids []int64) (outcomes []error, err error) {
	serving := run{Indexer: x, db: db, small: len(ids) > 1}
	results, err := serving.index(ctx, ids)
	outcomes = make([]error, len(ids))
	building := run{Indexer: x, db: db, small: serving.small}
	var rest []int64
	var places []int
	for i, result := range results {
		switch {
		case result.Err != nil || result.set.Building == nil:
			outcomes[i] = result.Err
		case err != nil || *result.set.BuildingChunking != chunk.Version:
			outcomes[i] = ErrUndone
		default:
			rest, places = append(rest, result.id), append(places, i)
			building.set = result.set.Building // by number, in case it serves by now
		}
	}
	if len(rest) == 0 {
		return outcomes, err
	}
	results, err = building.index(ctx, rest)
	for i, result := range results {
		outcomes[places[i]] = result.Err
	}
	return outcomes, err
}
