package querylog

import (
	"context"
	"fmt"
	"time"
)

// Unanswered is a question without results, grouped with those that differ only in case, spaces or
// final punctuation.
type Unanswered struct {
	Question       string    `json:"question"` // the latest wording
	Times          int       `json:"times"`
	LastAskedAt    time.Time `json:"last_asked_at"`
	BestSimilarity *float64  `json:"best_similarity"` // the best similarity of any text; nil if there was nothing to compare
}

// ReadUnanswered returns the questions without results of the last days, the most frequent first,
// at most limit of them.
func ReadUnanswered(ctx context.Context, db Database, days, limit int) (list []Unanswered, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if err := db.Call(ctx, "unanswered_questions", map[string]any{"days": days, "match_count": limit}, &list); err != nil {
		return nil, fmt.Errorf("read unanswered questions: %w", err)
	}
	return list, nil
}

const readTimeout = 30 * time.Second
