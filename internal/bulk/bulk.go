// Package bulk is what imports of all kinds have in common: rows are written and their sources indexed while single ones fail,
// and the database or the model is away for a moment. It owns what is tried again, what is counted as missing, and when an
// import ends early. It must not know what the rows are.
package bulk

import (
	"context"
	"sync"
	"time"

	"tasklens/internal/index"
)

const (
	// tries is how often something is tried while the database, or the model, is out of reach, with pauses of firstPause and
	// twice as long each time in between: 15 s together, in which a database restarts and a limit passes.
	tries      = 5
	firstPause = time.Second
	// maxIdle is after how many batches in a row of which nothing could be indexed an import ends.
	maxIdle = 3
)

// Indexer brings the chunks of sources in step with their texts. With an error the results that are Done stand all the same.
type Indexer interface {
	Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error)
}

// Counts is what an import did.
type Counts struct {
	Unwritten int // rows that the database did not take
	Unindexed int // sources that are written, but have no present chunks: workers try them again
	Chunks    int
	Embedded  int
	Reused    int
	Tokens    int
}

// Import is one import's way. It is safe for concurrent use.
type Import struct {
	db      index.Database
	indexer Indexer
	failed  func(error)

	mutex  sync.Mutex
	counts Counts
	idle   int // batches in a row of which nothing was indexed
}

// New begins an import. failed receives what could not be written or indexed while the rest goes on, from several goroutines.
func New(db index.Database, indexer Indexer, failed func(error)) *Import {
	return &Import{db: db, indexer: indexer, failed: failed}
}

// Counts tells what was done so far.
func (i *Import) Counts() Counts {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	return i.counts
}
