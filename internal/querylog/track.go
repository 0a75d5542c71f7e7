package querylog

import (
	"context"

	"tasklens/internal/rpc"
)

// trackQueue is how many searches wait to be counted; more are dropped.
const trackQueue = 1000

// Tracker counts retrievals in the background: no search waits for it or fails because of it. It is
// safe for concurrent use. A nil *Tracker does nothing.
type Tracker struct {
	found *backlog[retrieval]
}

type retrieval struct {
	documents []string
	query     string
}

// NewTracker starts a tracker. Close stops it. See queueOptions for warn.
func NewTracker(db rpc.Caller, warn func(lost int64, cause error)) *Tracker {
	return &Tracker{startQueue(queueOptions{Size: trackQueue, Warn: warn}, func(ctx context.Context, found []retrieval) error {
		return db.Call(ctx, "track_document_retrievals", map[string]any{"doc_ids": found[0].documents, "query_text": found[0].query}, nil)
	})}
}

// Retrieved records that a query found these documents. It never blocks.
func (t *Tracker) Retrieved(documents []string, query string) {
	if t == nil || len(documents) == 0 {
		return
	}
	t.found.Add(retrieval{documents, query})
}

// Close stops accepting searches and counts the queued ones until the context ends. The rest is
// dropped.
func (t *Tracker) Close(ctx context.Context) {
	if t != nil {
		t.found.Close(ctx)
	}
}
