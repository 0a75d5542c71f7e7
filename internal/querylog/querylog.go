// Package querylog keeps what was asked and what came of it, for whoever runs the service: it takes entries without
// making anyone wait, writes them in batches, and has old ones deleted. It owns what an entry tells and how it is
// flagged. It must not know HTTP, nor how the database is reached, and nothing depends on its success.
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

// queueSize bounds the entries that wait in memory: some 20 kB each at most.
const queueSize = 1000

// Options are what an operator chooses, and who is told of what is lost.
type Options struct {
	RetentionDays int
	// Warn is called at most once a minute, and at the end: so many entries were lost since it was called last. cause is
	// the last failure to write, nil where they came faster than they could be written.
	Warn func(lost int64, cause error)
}

// Log takes entries. It is safe for concurrent use; a nil *Log forgets what it is given.
type Log struct {
	db        Database
	retention int // days
	entries   *backlog.Backlog[Entry]
}

// New makes a log and starts its writer; Close ends it.
func New(db Database, options Options) *Log {
	l := &Log{db: db, retention: options.RetentionDays}
	l.entries = backlog.Start(queueSize, options.Warn, l.run)
	return l
}

// Add takes an entry and never waits: one that finds the queue full, or the log closed, is lost and counted.
func (l *Log) Add(e Entry) {
	if l == nil {
		return
	}
	// Made here, so that a batch that is sent again is the same one. In the order of time, which suits the index.
	e.ID = uuid.Must(uuid.NewV7())
	l.entries.Add(e)
}

// Close takes no entry any more and writes those that wait until the context ends; the rest is lost.
func (l *Log) Close(ctx context.Context) {
	if l != nil {
		l.entries.Close(ctx)
	}
}
