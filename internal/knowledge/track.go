package knowledge

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/backlog"
)

const (
	trackQueue   = 1000 // searches waiting to be counted; more are dropped
	trackTimeout = 5 * time.Second
)

// Tracker counts retrievals in the background: no search waits for it or fails because of it. It is
// safe for concurrent use. A nil *Tracker does nothing.
type Tracker struct {
	db    Database
	found *backlog.Backlog[retrieval]
}

type retrieval struct {
	documents []string
	query     string
}

// NewTracker starts a tracker. Close stops it. warn is called at most once a minute, and on Close,
// with the number of searches dropped since the last call. cause is the last error, or nil if
// searches only arrived faster than they could be counted.
func NewTracker(db Database, warn func(lost int64, cause error)) *Tracker {
	t := &Tracker{db: db}
	t.found = backlog.Start(trackQueue, warn, t.run)
	return t
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

func (t *Tracker) run(ctx context.Context, found *backlog.Backlog[retrieval]) {
	for next := range found.Waiting() {
		calling, cancel := context.WithTimeout(ctx, trackTimeout)
		err := t.db.Call(calling, "track_document_retrievals", map[string]any{"doc_ids": next.documents, "query_text": next.query}, nil)
		cancel()
		if err != nil {
			found.Lose(1, fmt.Errorf("track retrievals: %w", err))
		}
		found.Tell()
	}
}
