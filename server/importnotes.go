package main

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/knowledge"
	"tasklens/internal/notefile"
)

// importNotes loads a folder of Markdown files as documents and indexes them.
func importNotes(ctx context.Context, e embedding, path string) error {
	notes, err := notefile.Open(path)
	if err != nil {
		return err
	}
	started := time.Now()
	bar := newBar(int64(notes.Len()), "importing", false)
	bad := teller{kind: "left out", bar: bar}
	sum, err := knowledge.Import(ctx, e.db, e.indexer, notes.Notes(), bad.tell, func(documents int) { _ = bar.Set(documents) })
	_ = bar.Finish()
	bad.rest("files")
	if err := imported(ctx, err, sum.Documents, sum.Bad, "files"); err != nil {
		return err
	}
	fmt.Printf("%d documents (%d new) in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d files; %.1f s\n",
		sum.Documents, sum.Created, sum.Chunks, sum.Embedded, sum.Tokens, sum.Reused, sum.Bad, time.Since(started).Seconds())
	if stats, err := enrich.ReadStats(ctx, e.db); err != nil {
		return err
	} else if stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich has them found by names and keywords\n", stats.Unenriched)
	}
	return nil
}
