package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/knowledge"
)

// importNotes loads a folder of Markdown files as documents and indexes them. The same path in the
// same origin, which is the folder's name by default, is the same document.
func importNotes(ctx context.Context, e embedding, path, origin string) error {
	notes, err := knowledge.OpenNotes(path)
	if err != nil {
		return err
	}
	if origin != "" {
		notes.Name = origin
	}
	fmt.Fprintf(os.Stderr, "origin: %s\n", notes.Name)
	started := time.Now()
	bar := newBar(int64(notes.Len()), "importing", false)
	bad, failed := teller{kind: "left out", bar: bar}, teller{kind: "failed", bar: bar}
	sum, err := knowledge.Import(ctx, e.db, e.indexer, notes.All(), knowledge.Reports{
		Bad: bad.tell, Failed: failed.tell, Done: func(documents int) { _ = bar.Set(documents) },
	})
	_ = bar.Finish()
	bad.rest(bad.told, "files")
	failed.rest(failed.told, "failures")
	fmt.Printf("%d documents (%d new) in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d files; %.1f s\n",
		sum.Documents, sum.Created, sum.Chunks, sum.Embedded, sum.Tokens, sum.Reused, sum.Bad, time.Since(started).Seconds())
	if err == nil {
		e.fitThreshold(ctx)
	}
	err = imported(ctx, err, importOutcome{good: sum.Documents, bad: sum.Bad, unwritten: sum.Unwritten, unindexed: sum.Unindexed, things: "files"}, failed.last)
	if err != nil {
		return err
	}
	if stats, err := enrich.ReadStats(ctx, e.db); err != nil {
		return err
	} else if stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich extracts their names and keywords\n", stats.Unenriched)
	}
	return nil
}
