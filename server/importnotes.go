package main

import (
	"context"
	"fmt"
	"time"

	"tasklens/internal/enrich"
	"tasklens/internal/load"
)

// importNotes loads a folder of Markdown files as documents and indexes them. The same path in the
// same origin, which is the folder's name by default, is the same document.
func importNotes(ctx context.Context, e embedding, path, origin string) error {
	notes, err := load.OpenNotes(path)
	if err != nil {
		return err
	}
	if origin != "" {
		notes.Name = origin
	}
	started := time.Now()
	out := newImportOutput(newBar(int64(notes.Len()), "importing", false))
	out.print("origin: %s", notes.Name)
	sum, err := load.LoadNotes(ctx, e.db, e.indexer, notes, out.report())
	out.finish()
	fmt.Printf("%d documents (%d new) in %d chunks; %d embedded (%d tokens), %d unchanged; left out: %d files; %.1f s\n",
		sum.Written, sum.Created, sum.Chunks, sum.Embedded, sum.Tokens, sum.Reused, sum.Bad, time.Since(started).Seconds())
	if err == nil {
		e.fitThreshold(ctx)
	}
	if err = imported(ctx, err, sum.Counts, out.lastFailure); err != nil {
		return err
	}
	if sum.Written == 0 && sum.Bad > 0 {
		return fmt.Errorf("nothing was imported: none of %d files is good", sum.Bad)
	}
	if stats, err := enrich.ReadStats(ctx, e.db); err != nil {
		return err
	} else if stats.Unenriched > 0 {
		fmt.Printf("%d documents are not enriched: scripts/enrich extracts their names and keywords\n", stats.Unenriched)
	}
	return nil
}
