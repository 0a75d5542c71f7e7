// Package querylog records what requests did, for operators, in the background: questions and
// searches with their results, which it deletes when they are old, and which documents were found.
// It owns the content of an entry and its flags, the batches, the retries and the loss on overload.
// It does not know HTTP or how the database is reached, and no request depends on its success.
package querylog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"tasklens/internal/rescue"
	"tasklens/internal/rpc"
	"tasklens/internal/wait"
)

const (
	queueSize  = 1000 // entries queued in memory, of about 20 kB each at most
	batchSize  = 100
	linger     = 500 * time.Millisecond
	attempts   = 5
	timeout    = 5 * time.Second // of one attempt to write, or to delete
	purgeEvery = time.Hour       // in case no entry is written, which deletes old rows too
	purgeSoon  = time.Second     // if more may remain
)

// purgeLimit is the maximum number of rows that one call of log_queries deletes. If it deletes that
// many, more may remain.
const purgeLimit = 1000

// Options configure a Log.
type Options struct {
	RetentionDays int
	Warn          func(lost int64, cause error) // see queueOptions
}

// Log accepts entries. It is safe for concurrent use. A nil *Log discards them.
type Log struct {
	db        rpc.Caller
	retention int // days
	entries   *backlog[Entry]
	stop      context.CancelFunc
}

// New starts a log and its writer. Close stops it.
func New(db rpc.Caller, options Options) *Log {
	l := &Log{db: db, retention: options.RetentionDays}
	l.entries = startQueue(queueOptions{Size: queueSize, Batch: batchSize, Linger: linger, Attempts: attempts, Warn: options.Warn},
		func(ctx context.Context, batch []Entry) error {
			_, err := l.write(ctx, batch)
			return err
		})
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	rescue.Go(func() { l.purge(ctx) })
	return l
}

// Add queues an entry and never blocks. If the queue is full or the log closed, the entry is
// dropped and counted.
func (l *Log) Add(e Entry) {
	if l == nil {
		return
	}
	// The ID is made here, so that a batch can be retried safely. Version 7 is ordered by time,
	// which suits the index.
	e.ID = uuid.Must(uuid.NewV7())
	l.entries.Add(e)
}

// Close stops accepting entries and writes the queued ones until the context ends. The rest is
// dropped.
func (l *Log) Close(ctx context.Context) {
	if l != nil {
		l.stop()
		l.entries.Close(ctx)
	}
}

// write stores entries, each once however often it is repeated, and deletes old rows.
func (l *Log) write(ctx context.Context, batch []Entry) (deleted int, err error) {
	entries := append([]Entry{}, batch...) // in JSON never null
	counts, err := rpc.One[struct {
		Deleted int `json:"deleted"`
	}](ctx, l.db, "log_queries", map[string]any{"entries": entries, "retention_days": l.retention})
	return counts.Deleted, err
}

// purge deletes old rows, also while nobody asks. A failure is retried with the next entries.
func (l *Log) purge(ctx context.Context) {
	for pause := time.Duration(0); wait.For(ctx, pause) == nil; {
		pause = purgeEvery
		_ = rescue.Do(func() error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			deleted, err := l.write(ctx, nil)
			if deleted >= purgeLimit {
				pause = purgeSoon
			}
			return err
		})
	}
}
