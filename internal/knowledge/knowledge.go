// Package knowledge keeps a team's documents (decisions, runbooks, notes) and finds them: by meaning, by meaning weighed
// with keywords, usefulness and age, by the names in them, and by what they are like. It owns what is asked of the
// database and in which numbers, and that counting retrievals holds nobody up. Ranking is the database's. It knows
// neither how models are asked nor how the database is reached.
package knowledge

import (
	"context"

	"tasklens/internal/fault"
)

// Database calls a Postgres function with named arguments, as whoever the caller is.
type Database interface {
	Call(ctx context.Context, function string, arguments, result any) error
}

func noDocument() error { return fault.New(fault.NotFound, "There is no such document.") }
