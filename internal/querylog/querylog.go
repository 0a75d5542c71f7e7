// Package querylog records questions and searches with their results, for operators. It accepts
// entries without blocking, writes them in batches and deletes old ones. It owns the content of an
// entry and its flags. It does not know HTTP or how the database is reached, and no request depends
// on its success.
package querylog

import (
	"context"

	"github.com/google/uuid"

	"tasklens/internal/backlog"
)

// Database calls a Postgres function with named arguments.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

// queueSize bounds the entries queued in memory, of about 20 kB each at most.
const queueSize = 1000

// Options configure a Log.
type Options struct {
	RetentionDays int
	// Warn is called at most once a minute, and on Close, with the number of entries lost since the
	// last call. cause is the last write error, or nil if entries only arrived faster than they
	// could be written.
	Warn func(lost int64, cause error)
}

// Log accepts entries. It is safe for concurrent use. A nil *Log discards them.
type Log struct {
	db        Database
	retention int // days
	entries   *backlog.Backlog[Entry]
}

// New starts a log and its writer. Close stops it.
func New(db Database, options Options) *Log {
	l := &Log{db: db, retention: options.RetentionDays}
	l.entries = backlog.Start(queueSize, options.Warn, l.run)
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
		l.entries.Close(ctx)
	}
}
