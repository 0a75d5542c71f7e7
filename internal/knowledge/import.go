package knowledge

import (
	"context"
	"fmt"
	"iter"

	"github.com/google/uuid"

	"tasklens/internal/index"
	"tasklens/internal/notefile"
)

// What is written and embedded together.
const (
	batchNotes = 50
	batchBytes = 1 << 20
)

// pathSpace is the namespace of the ids that paths become.
var pathSpace = uuid.MustParse("0fd2fd5c-5c1f-4d7e-9f3b-7c1f8a2f6f5e")

// IDOfPath is the id of the document that a note is imported as: the same path is the same document (UUID of version 5).
func IDOfPath(path string) string { return uuid.NewSHA1(pathSpace, []byte(path)).String() }

// Indexer brings the chunks of sources in step with their texts.
type Indexer interface {
	Index(ctx context.Context, db index.Database, sources []index.Source, force bool) ([]index.Result, error)
}

// Imported counts what an import did.
type Imported struct {
	Documents, Created, Bad  int // Created of Documents are new; Bad notes were left out
	Chunks, Embedded, Reused int
	Tokens                   int
}

// Import writes notes and embeds them. Importing again changes only what differs, by path; a note whose file is gone stays.
// bad is told of notes that cannot be read, done how many notes are written. It stops at the first failure of the
// database or the model; what was written before stays.
func Import(ctx context.Context, db Database, indexer Indexer, notes iter.Seq2[notefile.Note, error], bad func(error), done func(int)) (Imported, error) {
	var sum Imported
	var batch []Draft
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := sum.write(ctx, db, indexer, batch); err != nil {
			return fmt.Errorf("import %q to %q: %w", batch[0].Title, batch[len(batch)-1].Title, err)
		}
		batch, size = nil, 0
		done(sum.Documents)
		return nil
	}
	for note, err := range notes {
		if err != nil {
			sum.Bad++
			bad(err)
			continue
		}
		batch = append(batch, draftOf(note))
		if size += len(note.Content); len(batch) == batchNotes || size >= batchBytes {
			if err := flush(); err != nil {
				return sum, err
			}
		}
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

func (sum *Imported) write(ctx context.Context, db Database, indexer Indexer, batch []Draft) error {
	written, err := put(ctx, db, batch, true)
	if err != nil {
		return err
	}
	var sources []index.Source
	for _, w := range written {
		sources = append(sources, index.Source{DocumentID: w.ID})
		if w.Created {
			sum.Created++
		}
	}
	results, err := indexer.Index(ctx, db, sources, false)
	if err != nil {
		return err
	}
	sum.Documents += len(written)
	for _, r := range results {
		sum.Chunks += len(r.EmbeddingIDs)
		sum.Embedded += r.Embedded
		sum.Reused += r.Reused
		sum.Tokens += r.Tokens
	}
	return nil
}
