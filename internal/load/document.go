package load

import (
	"context"
	"fmt"

	"tasklens/internal/ticketfile"
)

// LoadNotes writes notes as documents. A repeated import changes only what differs, by path. A
// document whose file is gone stays unless Prune is asked for. Failures are reported and counted,
// and the rest continues. It ends early if nothing can be stored, or if the origin is that of
// another folder of the same name. Documents written before that stay.
func LoadNotes(ctx context.Context, db Database, notes *Notes, report Report, options Options) (Summary, error) {
	w := &writer{db: db, report: report}
	before, err := w.pruneNotes(ctx, notes, 0)
	if err != nil {
		return w.sum, err
	}
	// Without a common path, nothing is overwritten, and both folders are in the origin.
	if both := before.Stored - before.Unlisted; options.Origin == "" && (both > 0 || options.Prune) && 2*both < min(before.Stored, len(notes.known)) {
		return w.sum, fmt.Errorf("%w: the origin %q has %d documents, and only %d of them are files of this folder, which may be another one of that name: "+
			"--origin NAME gives it an origin of its own, --origin %[2]s says that it is the same", ticketfile.ErrFiles, notes.Name, before.Stored, both)
	}
	if err := writeAll(ctx, w, notes.All(), kind[Note]{
		name:    func(n Note) string { return fmt.Sprintf("document %q", n.Title) },
		size:    func(n Note) int { return len(n.Content) },
		accepts: w.acceptsNote,
		upsert:  w.upsertNotes,
	}); err != nil {
		return w.sum, err
	}
	w.sum.Stored, w.sum.Unlisted.Documents = before.Stored+w.sum.NewDocuments, before.Unlisted
	return w.sum, w.dropUnlisted(options, "documents", before.Examples, func(size int) (Gone, error) {
		found, err := w.pruneNotes(ctx, notes, size)
		return Gone{Documents: found.Removed}, err
	})
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

// pruned are the documents of an origin, and those of them whose files are gone.
type pruned struct {
	Stored   int      `json:"stored"`
	Unlisted int      `json:"unlisted"`
	Removed  int      `json:"removed"`
	Examples []string `json:"examples"`
}

// pruneNotes finds the documents of this origin whose files are gone, and deletes so many of them.
// A file that cannot be read is there.
func (w *writer) pruneNotes(ctx context.Context, notes *Notes, most int) (pruned, error) {
	found := make([]pruned, 1)
	err := w.db.Call(ctx, "prune_documents", map[string]any{"origin": notes.Name, "listed": notes.ids(), "match_count": most}, &found)
	return found[0], err
}
