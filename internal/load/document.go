package load

import (
	"context"
	"fmt"
)

// LoadNotes writes notes as documents. A repeated import changes only what differs, by path. A
// document whose file was deleted stays. Failures are reported and counted, and the rest continues.
// It ends early if nothing can be stored. Documents written before that stay.
func LoadNotes(ctx context.Context, db Database, notes *Notes, report Report) (Summary, error) {
	w := &writer{db: db, report: report}
	documents := batch[Note]{write: func(rows []Note) error { return w.writeNotes(ctx, rows) }}
	for note, err := range notes.All() {
		if err != nil {
			w.skip(err)
			continue
		}
		if err := documents.add(note, len(note.Content)); err != nil {
			return w.sum, err
		}
	}
	err := documents.flush()
	return w.sum, err
}

func (w *writer) writeNotes(ctx context.Context, notes []Note) error {
	name := func(n Note) string { return fmt.Sprintf("document %q", n.Title) }
	return write(ctx, w, notes, name, func(part []Note) error {
		var written []struct {
			Created bool `json:"created"`
		}
		if err := w.db.Call(ctx, "upsert_documents", map[string]any{"documents": part}, &written); err != nil {
			return fmt.Errorf("write documents %q to %q: %w", part[0].Title, part[len(part)-1].Title, err)
		}
		for _, document := range written {
			w.sum.Documents++
			if document.Created {
				w.sum.NewDocuments++
			}
		}
		w.report.Written(len(part))
		return nil
	})
}
