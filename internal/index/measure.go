package index

import (
	"context"
	"fmt"
	"unicode/utf8"
)

// Measure tells how many tokens Sync would send to the model for some sources now, and how many characters their texts
// have; anew: as if nothing of them were stored. At most some hundred sources at a time.
func (x *Indexer) Measure(ctx context.Context, db Database, sources []Source, anew bool) (tokens, characters int, err error) {
	rows, err := readSources(ctx, db, sources, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("read sources: %w", err)
	}
	for _, row := range rows {
		for _, text := range row.Texts {
			characters += utf8.RuneCountInString(text.Text)
		}
		for _, next := range x.newPlan(row, x.modelOf(ctx, row), anew).chunks {
			if next.chunkID == nil {
				tokens += next.inputTokens
			}
		}
	}
	return tokens, characters, nil
}
