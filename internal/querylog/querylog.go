// Package querylog records what requests did, for operators, in the background: questions and
// searches with their results, which it deletes when they are old, and which documents were found.
// It owns the content of an entry and its flags, the batches, the retries and the loss on overload.
// It does not know HTTP or how the database is reached, and no request depends on its success.
package querylog

import (
	"context"

	"github.com/google/uuid"

	"tasklens/internal/rpc"
)

const (
	batchSize = 100
	attempts  = 5
)

// purgeLimit is the maximum number of rows that one call of log_queries deletes. If it deletes that
// many, more may remain.
const purgeLimit = 1000

// New starts a log of what was asked, which also deletes rows that are older than the retention,
// while nobody asks too.
func New(db rpc.Caller, retentionDays int, warn Warn) *Backlog[Entry] {
	return start(batchSize, attempts, warn, func(ctx context.Context, batch []Entry) error {
		for i := range batch {
			if batch[i].ID == uuid.Nil { // it is kept, so that a batch can be retried; version 7 suits the index
				batch[i].ID = uuid.Must(uuid.NewV7())
			}
		}
		for {
			counts, err := rpc.One[struct {
				Deleted int `json:"deleted"`
			}](ctx, db, "log_queries", map[string]any{"entries": append([]Entry{}, batch...), "retention_days": retentionDays}) // in JSON never null
			if err != nil || len(batch) > 0 || counts.Deleted < purgeLimit {
				return err
			}
		}
	})
}

// Retrieval is what a query found.
type Retrieval struct {
	Documents []string // ids
	Query     string
}

// NewTracker starts to count retrievals.
func NewTracker(db rpc.Caller, warn Warn) *Backlog[Retrieval] {
	return start(1, 1, warn, func(ctx context.Context, found []Retrieval) error {
		for _, one := range found {
			return db.Call(ctx, "track_document_retrievals", map[string]any{"doc_ids": one.Documents, "query_text": one.Query}, nil)
		}
		return nil
	})
}
