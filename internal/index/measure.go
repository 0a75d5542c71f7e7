package index

import (
	"context"
	"unicode/utf8"

	"tasklens/internal/rpc"
)

// Measure returns how many tokens Sync would send to the model for these sources now, and how many
// characters their texts have; with force, stored chunks are ignored.
func (x *Indexer) Measure(ctx context.Context, db rpc.Caller, ids []int64, force bool) (tokens, characters int, err error) {
	for len(ids) > 0 {
		rows, read, err := readSources(ctx, db, ids, nil)
		if err != nil {
			return 0, 0, err
		}
		for _, row := range rows {
			for _, text := range row.Texts {
				characters += utf8.RuneCountInString(text.Text)
			}
			for _, next := range x.newPlan(row, x.modelOf(row), force).chunks {
				if next.chunkID == nil {
					tokens += next.inputTokens
				}
			}
		}
		ids = ids[read:]
	}
	return tokens, characters, nil
}
