package knowledge

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/backlog"
)

const (
	trackQueue   = 1000 // searches that wait to be counted; more are not counted
	trackTimeout = 5 * time.Second
)

// Tracker counts what was found, behind the backs of those who search: nobody waits for it, and nothing fails by it. It
// is safe for concurrent use; a nil one counts nothing.
type Tracker struct {
	db    Database
	found *backlog.Backlog[retrieval]
}

type retrieval struct {
	documents []string
	query     string
}

// NewTracker starts a tracker; Close ends it. warn is called at most once a minute, and at the end: so many searches were
// not counted since it was called last. cause is the last failure, nil where they came faster than they could be counted.
func NewTracker(db Database, warn func(lost int64, cause error)) *Tracker {
	t := &Tracker{db: db}
	t.found = backlog.Start(trackQueue, warn, t.run)
	return t
}

// Retrieved says that a query found these documents. It never waits.
func (t *Tracker) Retrieved(documents []string, query string) {
	if t == nil || len(documents) == 0 {
		return
	}
	t.found.Add(retrieval{documents, query})
}

// Close takes no search any more and counts those that wait until the context ends; the rest is lost.
func (t *Tracker) Close(ctx context.Context) {
	if t != nil {
		t.found.Close(ctx)
	}
}

func (t *Tracker) run(ctx context.Context, found *backlog.Backlog[retrieval]) {
	for next := range found.Waiting() {
		if err := t.count(ctx, next); err != nil {
			found.Lose(1, err)
		}
		found.Tell()
	}
}

func (t *Tracker) count(ctx context.Context, r retrieval) error {
	ctx, cancel := context.WithTimeout(ctx, trackTimeout)
	defer cancel()
	err := t.db.Call(ctx, "track_document_retrievals", map[string]any{"doc_ids": r.documents, "query_text": r.query}, nil)
	if err != nil {
		return fmt.Errorf("track retrievals: %w", err)
	}
	return nil
}
