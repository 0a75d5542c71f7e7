package querylog

import (
	"context"
	"fmt"
	"time"
)

// Unanswered is a question that found nothing, with all that differ from it in case, spaces and final marks alone.
type Unanswered struct {
	Question       string    `json:"question"` // the latest wording
	Times          int       `json:"times"`
	LastAskedAt    time.Time `json:"last_asked_at"`
	BestSimilarity *float64  `json:"best_similarity"` // the nearest that any text came; nil where there was nothing to compare
}

// ReadUnanswered gives what found nothing in the last days, the most asked first, at most limit of them.
func ReadUnanswered(ctx context.Context, db Database, days, limit int) (list []Unanswered, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if err := db.Call(ctx, "unanswered_questions", map[string]any{"days": days, "match_count": limit}, &list); err != nil {
		return nil, fmt.Errorf("read unanswered questions: %w", err)
	}
	return list, nil
}

const readTimeout = 30 * time.Second
