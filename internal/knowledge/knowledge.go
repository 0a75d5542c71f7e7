// Package knowledge stores a team's documents (decisions, runbooks, notes) and searches them: by
// meaning, by a score of meaning, keywords, usefulness and age, by named entities, and by
// similarity to a document. It owns the calls to the database and their limits, and counts
// retrievals without delaying searches. The database does the ranking. The package does not know
// how models or the database are called.
package knowledge

import (
	"context"

	"tasklens/internal/fault"
)

// Database calls a Postgres function with named arguments, with the caller's rights.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

func noDocument() error { return fault.New(fault.NotFound, "There is no such document.") }
