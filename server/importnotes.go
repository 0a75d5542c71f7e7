package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/knowledge"
	"tasklens/internal/notefile"
)

// importNotes loads a folder of Markdown files as documents and indexes them.
func importNotes(ctx context.Context, config Config, path string) error {
	notes, err := notefile.Open(path)
	if err != nil {
		return err
	}
	indexer, err := newIndexer(namedModel{newModel(config), config})
	if err != nil {
		return err
	}
	started := time.Now()
	bar := newBar(int64(notes.Len()), "importing", false)
	told := 0
	db := newDatabase(config).AsService()
	sum, err := knowledge.Import(ctx, db, indexer, notes.Notes(), func(bad error) {
		if told++; told <= maxTold {
			_ = bar.Clear()
			fmt.Fprintf(os.Stderr, "left out: %v\n", bad)
		}
	}, func(documents int) { _ = bar.Set(documents) })
	_ = bar.Finish()
	if more := sum.Bad - maxTold; more > 0 {
		fmt.Fprintf(os.Stderr, "left out: %d more files\n", more)
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted: what was written stays, and the next import goes on from there")
	case err != nil:
		return err
	case sum.Documents == 0 && sum.Bad > 0:
		return fmt.Errorf("nothing was imported: none of %d files is good", sum.Bad)
	}
	fmt.Printf("%d documents (%d new) in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d files; %.1f s\n",
		sum.Documents, sum.Created, sum.Chunks, sum.Embedded, sum.Tokens, sum.Reused, sum.Bad, time.Since(started).Seconds())
	if stats, err := enrich.ReadStats(ctx, db); err != nil {
		return err
	} else if stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich has them found by names and keywords\n", stats.Unenriched)
	}
	return nil
}
