// Package bulk is shared by all imports: it writes rows and indexes their sources while single ones
// fail, or the database or the model is briefly unavailable. It owns retries, the counts of
// failures, and when an import ends early. It does not know what the rows are.
package bulk

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/index"
)

const (
	// tries is the number of attempts while the database or the model is unreachable, with pauses
	// of firstPause, doubled each time: 15 s in total, enough for a database restart or a rate
	// limit.
	tries      = 5
	firstPause = time.Second
	// maxIdle is the number of consecutive batches without any indexed source after which an import
	// ends.
	maxIdle = 3
)

// Indexer updates the chunks of sources. If it returns an error, results that are Done are still
// valid.
type Indexer interface {
	Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error)
}

// Counts is the result of an import.
type Counts struct {
	Unwritten int // rows that the database rejected
	Unindexed int // sources written without current chunks; workers retry them
	Chunks    int
	Embedded  int
	Reused    int
	Tokens    int
}

// Import is a running import. It is safe for concurrent use.
type Import struct {
	db      index.Database
	indexer Indexer
	failed  func(error)

	mutex  sync.Mutex
	counts Counts
	idle   int // consecutive batches without an indexed source
}

// New starts an import. failed receives what could not be written or indexed; it is called from
// several goroutines.
func New(db index.Database, indexer Indexer, failed func(error)) *Import {
	return &Import{db: db, indexer: indexer, failed: failed}
}

// Counts returns the counts so far.
func (i *Import) Counts() Counts {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	return i.counts
}
