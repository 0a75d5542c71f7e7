package knowledge

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/google/uuid"

	"tasklens/internal/bulk"
	"tasklens/internal/index"
)

// Sizes of a batch. A batch that is still too large is halved.
const (
	batchNotes = 50
	batchBytes = 1 << 20
)

// pathSpace is the namespace of the ids derived from paths.
var pathSpace = uuid.MustParse("0fd2fd5c-5c1f-4d7e-9f3b-7c1f8a2f6f5e")

// IDOfPath returns the id of the document that a note is imported as, a version 5 UUID: the same
// path is the same document.
func IDOfPath(path string) string { return uuid.NewSHA1(pathSpace, []byte(path)).String() }

// Imported is the result of an import.
type Imported struct {
	Documents, Created, Bad int // Created of Documents are new; Bad notes were skipped
	bulk.Counts
}

// Reports receives events of an import. Its functions are called one at a time.
type Reports struct {
	Bad    func(error) // a note that cannot be parsed
	Failed func(error) // what could not be written or indexed; the import continues
	Done   func(int)   // the number of notes processed
}

// Import writes and embeds notes. A repeated import changes only what differs, by path. A note
// whose file was deleted stays. Failures are reported and counted, and the rest continues. It ends
// early if nothing at all can be stored or embedded. Documents written before that stay.
func Import(ctx context.Context, db Database, indexer bulk.Indexer, notes iter.Seq2[Note, error], reports Reports) (sum Imported, err error) {
	importing := bulk.New(db, indexer, reports.Failed)
	defer func() { sum.Counts = importing.Counts() }()
	var batch []Note
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
		batch, size = append(batch, note), size+len(note.Content)
	}
	return sum, flush()
}

func (sum *Imported) write(ctx context.Context, db Database, importing *bulk.Import, batch []Note) error {
	var sources []index.Source
	err := bulk.Write(ctx, importing, batch, func(d Note) string { return fmt.Sprintf("document %q", d.Title) }, func(part []Note) error {
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
