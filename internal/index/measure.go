package index

import (
	"context"
	"unicode/utf8"

	"tasklens/internal/portion"
)

// Measure returns how many tokens Sync would send to the model for these sources now, and how many
// characters their texts have; if anew is set, stored chunks are ignored.
func (x *Indexer) Measure(ctx context.Context, db Database, sources []Source, anew bool) (tokens, characters int, err error) {
	var failed error
	err = portion.Each(ctx, sources, func(part []Source) (int, error) {
		rows, read, err := readSources(ctx, db, part, nil)
		if err != nil {
			return 0, err
		}
		for _, row := range rows {
			for _, text := range row.Texts {
				characters += utf8.RuneCountInString(text.Text)
			}
			for _, next := range x.newPlan(row, x.modelOf(row), anew).chunks {
				if next.chunkID == nil {
					tokens += next.inputTokens
				}
			}
		}
		return read, nil
	}, func(_ Source, err error) { failed = err })
	if err == nil {
		err = failed
	}
	return tokens, characters, err
}
