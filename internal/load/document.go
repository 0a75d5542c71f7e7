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
	err := writeAll(ctx, w, notes.All(), kind[Note]{
		name:    func(n Note) string { return fmt.Sprintf("document %q", n.Title) },
		size:    func(n Note) int { return len(n.Content) },
		accepts: func(Note) bool { return true },
		upsert:  w.upsertNotes,
	})
	return w.sum, err
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
