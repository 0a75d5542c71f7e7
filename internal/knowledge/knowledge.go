// Package knowledge stores a team's documents (decisions, runbooks, notes) and searches them: by
// meaning, by a score of meaning, keywords, usefulness and age, by named entities, and by
// similarity to a document. It owns the calls to the database and their limits, and counts
// retrievals without delaying searches. The database does the ranking. The package does not know
// how models or the database are called.
package knowledge

import "tasklens/internal/fault"

func noDocument() error { return fault.New(fault.NotFound, "There is no such document.") }
