package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/ticketfile"
)

// LoadNotes writes notes as documents. A repeated import changes only what differs, by path. A
// document whose file is gone stays unless Prune is asked for. Failures are reported and counted,
// and the rest continues. It ends early if nothing can be stored. Documents written before that
// stay.
func LoadNotes(ctx context.Context, db Database, notes *Notes, report Report, options Options) (Summary, error) {
	w := &writer{db: db, report: report}
	err := writeAll(ctx, w, notes.All(), kind[Note]{
		name:    func(n Note) string { return fmt.Sprintf("document %q", n.Title) },
		size:    func(n Note) int { return len(n.Content) },
		accepts: w.acceptsNote,
		upsert:  w.upsertNotes,
	})
	if err == nil {
		err = w.pruneNotes(ctx, notes, options)
	}
	return w.sum, err
}

func (w *writer) acceptsNote(note Note) bool {
	for _, problem := range note.Problems {
		w.warn(&ticketfile.RowError{File: note.File, Reason: problem})
	}
	return true
}

func (w *writer) upsertNotes(ctx context.Context, notes []Note) error {
	var written []struct {
		Created bool `json:"created"`
	}
	if err := w.db.Call(ctx, "upsert_documents", map[string]any{"documents": notes}, &written); err != nil {
		return fmt.Errorf("write documents %q to %q: %w", notes[0].Title, notes[len(notes)-1].Title, err)
	}
	for _, document := range written {
		w.sum.Documents++
		if document.Created {
			w.sum.NewDocuments++
		}
	}
	w.report.Written(len(notes))
	return nil
}

// pruneNotes finds the documents of this origin whose files are gone, and deletes them if that was
// asked for. A file that cannot be read is there.
func (w *writer) pruneNotes(ctx context.Context, notes *Notes, options Options) error {
	for most := 0; ; most = batchPrune {
		var found []struct {
			Stored   int      `json:"stored"`
			Unlisted int      `json:"unlisted"`
			Removed  int      `json:"removed"`
			Examples []string `json:"examples"`
		}
		err := w.db.Call(ctx, "prune_documents", map[string]any{"origin": notes.Name, "listed": notes.ids(), "match_count": most}, &found)
		if err != nil || len(found) == 0 {
			return err
		}
		w.sum.Removed.Documents += found[0].Removed
		if most > 0 && found[0].Removed == 0 {
			return nil
		}
		if most > 0 {
			continue
		}
		w.sum.Stored, w.sum.Unlisted.Documents = found[0].Stored, found[0].Unlisted
		for _, title := range found[0].Examples {
			w.report.Trouble(Unlisted, errors.New(title))
		}
		switch {
		case !options.Prune || found[0].Unlisted == 0:
			return nil
		case w.sum.Many() && !options.PruneMany:
			return fmt.Errorf("%w: %d of the %d documents of this origin have no file, more than a fifth", ErrNotPruned, found[0].Unlisted, found[0].Stored)
		}
	}
}
