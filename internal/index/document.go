package index

import (
	"context"

	"tasklens/internal/vector"
)

// storedDocument is a row of read_documents.
type storedDocument struct {
	ID         string        `json:"id"`
	Title      string        `json:"title"`
	Text       string        `json:"text"`
	SourceHash string        `json:"source_hash"`
	Chunks     []storedChunk `json:"chunks"`
	Read       int           `json:"documents_read"` // how many of the requested documents were read, from the first on
}

func readDocuments(ctx context.Context, db Database, sources []Source) (found []storedSource, read int, err error) {
	if len(sources) == 0 {
		return nil, 0, nil
	}
	documents := make([]string, len(sources))
	for i, source := range sources {
		documents[i] = source.DocumentID
	}
	var rows []storedDocument
	if err := db.Call(ctx, "read_documents", map[string]any{"document_ids": documents}, &rows); err != nil {
		return nil, 0, err
	}
	found, read = make([]storedSource, len(rows)), len(sources)
	for i, row := range rows {
		read = row.Read
		found[i] = storedSource{
			Source: Source{DocumentID: row.ID}, Names: []string{row.Title}, Texts: []storedText{{Text: row.Text}}, SourceHash: row.SourceHash, Chunks: row.Chunks,
		}
	}
	return found, read, nil
}

// storeDocuments truncates the vectors to the dimensions that documents are compared by. The
// database computes the vector of the whole document from those of its chunks.
func storeDocuments(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	documents := make([]string, len(plans))
	for i, p := range plans {
		documents[i] = p.source.DocumentID
	}
	chunks, vectors, hashes := newChunks(plans)
	if err := shorten(vectors); err != nil {
		return nil, err
	}
	return call(ctx, db, "store_document_chunks", map[string]any{
		"document_ids": documents, "source_hashes": hashes, "chunks": chunks, "embeddings": vectors,
	}, len(plans))
}

func shorten(vectors []vector.Vector) (err error) {
	for i, whole := range vectors {
		if vectors[i], err = whole.Short(); err != nil {
			return err
		}
	}
	return nil
}
