package load

import (
	"context"
	"errors"
	"fmt"

	"tasklens/internal/index"
)

// batchNotes is less than batchRows, because a note is longer than a ticket.
const batchNotes = 50

// Documents counts what was done.
type Documents struct {
	Written, Created, Bad int // Created of Written are new; Bad files were skipped
	Counts
}

// LoadNotes writes and indexes notes as documents. A repeated import changes only what differs, by
// path. A document whose file was deleted stays. Failures are reported and counted, and the rest
// continues. It ends early if nothing at all can be stored or embedded. Documents written before
// that stay.
func LoadNotes(ctx context.Context, db Database, indexer Indexer, notes *Notes, report Report) (Documents, error) {
	i := &importer{db: db, indexer: indexer, report: report}
	var sum Documents
	err := i.loadNotes(ctx, notes, &sum)
	sum.Counts = i.counts
	return sum, err
}

func (i *importer) loadNotes(ctx context.Context, notes *Notes, sum *Documents) error {
	var batch []Note
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := i.writeNotes(ctx, batch, sum); err != nil {
			return fmt.Errorf("import %q to %q: %w", batch[0].Title, batch[len(batch)-1].Title, err)
		}
		i.indexed(len(batch))
		batch, size = nil, 0
		return nil
	}
	for note, err := range notes.All() {
		if err != nil {
			sum.Bad++
			i.trouble(LeftOut, err)
			continue
		}
		if len(batch) == batchNotes || size+len(note.Content) > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, note), size+len(note.Content)
	}
	return flush()
}

func (i *importer) writeNotes(ctx context.Context, batch []Note, sum *Documents) error {
	var sources []index.Source
	name := func(n Note) string { return fmt.Sprintf("document %q", n.Title) }
	err := write(ctx, i, batch, name, func(part []Note) error {
		var written []struct {
			ID      string `json:"id"`
			Created bool   `json:"created"`
		}
		if err := i.db.Call(ctx, "upsert_documents", map[string]any{"documents": part, "embedded_by_caller": true}, &written); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
		for _, document := range written {
			sources = append(sources, index.Source{DocumentID: document.ID})
			if document.Created {
				sum.Created++
			}
		}
		return nil
	})
	sum.Written += len(sources)
	return errors.Join(err, i.index(ctx, sources))
}
