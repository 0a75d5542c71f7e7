package knowledge

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/google/uuid"

	"tasklens/internal/bulk"
	"tasklens/internal/index"
	"tasklens/internal/notefile"
)

// What is written and embedded together. What is too much all the same is halved.
const (
	batchNotes = 50
	batchBytes = 1 << 20
)

// pathSpace is the namespace of the ids that paths become.
var pathSpace = uuid.MustParse("0fd2fd5c-5c1f-4d7e-9f3b-7c1f8a2f6f5e")

// IDOfPath is the id of the document that a note is imported as: the same path is the same document (UUID of version 5).
func IDOfPath(path string) string { return uuid.NewSHA1(pathSpace, []byte(path)).String() }

// Imported counts what an import did.
type Imported struct {
	Documents, Created, Bad int // Created of Documents are new; Bad notes were left out
	bulk.Counts
}

// Reports receives what happens in an import. Its functions are called one at a time.
type Reports struct {
	Bad    func(error) // a note that cannot be read
	Failed func(error) // what could not be written or indexed; the rest goes on
	Done   func(int)   // how many notes are done with
}

// Import writes notes and embeds them. Importing again changes only what differs, by path; a note whose file is gone stays.
// What fails is reported and counted, and the rest goes on; it ends early where nothing at all can be stored or embedded. What was
// written before stays.
func Import(ctx context.Context, db Database, indexer bulk.Indexer, notes iter.Seq2[notefile.Note, error], reports Reports) (sum Imported, err error) {
	importing := bulk.New(db, indexer, reports.Failed)
	defer func() { sum.Counts = importing.Counts() }()
	var batch []Draft
	size, seen := 0, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := sum.write(ctx, db, importing, batch); err != nil {
			return fmt.Errorf("import %q to %q: %w", batch[0].Title, batch[len(batch)-1].Title, err)
		}
		seen += len(batch)
		batch, size = nil, 0
		reports.Done(seen)
		return nil
	}
	for note, err := range notes {
		if err != nil {
			sum.Bad++
			reports.Bad(err)
			continue
		}
		if len(batch) == batchNotes || len(batch) > 0 && size+len(note.Content) > batchBytes {
			if err := flush(); err != nil {
				return sum, err
			}
		}
		batch, size = append(batch, draftOf(note)), size+len(note.Content)
	}
	return sum, flush()
}

// draftOf is the document that a note is to become. What the note does not say, stays.
func draftOf(note notefile.Note) Draft {
	id := IDOfPath(note.Path)
	draft := Draft{ID: &id, Title: note.Title, Content: note.Content}
	if note.Keywords != nil {
		draft.Keywords = &note.Keywords
	}
	if note.TemporalClass != "" {
		draft.TemporalClass = &note.TemporalClass
	}
	if !note.CreatedAt.IsZero() {
		draft.CreatedAt = &note.CreatedAt
	}
	return draft
}

func (sum *Imported) write(ctx context.Context, db Database, importing *bulk.Import, batch []Draft) error {
	var sources []index.Source
	err := bulk.Write(ctx, importing, batch, func(d Draft) string { return fmt.Sprintf("document %q", d.Title) }, func(part []Draft) error {
		written, err := put(ctx, db, part, true)
		if err != nil {
			return err
		}
		for _, w := range written {
			sources = append(sources, index.Source{DocumentID: w.ID})
			if w.Created {
				sum.Created++
			}
		}
		return nil
	})
	sum.Documents += len(sources)
	return errors.Join(err, importing.Index(ctx, sources))
}
