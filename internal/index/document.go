package index

import "context"

// storedDocument is a row of read_documents.
type storedDocument struct {
	ID         string        `json:"id"`
	Title      string        `json:"title"`
	Text       string        `json:"text"`
	SourceHash string        `json:"source_hash"`
	Chunks     []storedChunk `json:"chunks"`
}

func readDocuments(ctx context.Context, db Database, sources []Source) ([]storedSource, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	documents := make([]string, len(sources))
	for i, source := range sources {
		documents[i] = source.DocumentID
	}
	var rows []storedDocument
	if err := db.Call(ctx, "read_documents", map[string]any{"document_ids": documents}, &rows); err != nil {
		return nil, err
	}
	found := make([]storedSource, len(rows))
	for i, row := range rows {
		found[i] = storedSource{
			Source: Source{DocumentID: row.ID}, Names: []string{row.Title}, Texts: []storedText{{Text: row.Text}}, SourceHash: row.SourceHash, Chunks: row.Chunks,
		}
	}
	return found, nil
}

// storeDocuments cuts the vectors to what documents are compared by. The vector of the whole document the database makes
// of those of its chunks.
func storeDocuments(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	documents := make([]string, len(plans))
	for i, p := range plans {
		documents[i] = p.source.DocumentID
	}
	chunks, vectors, hashes := newChunks(plans)
	for i, whole := range vectors {
		var err error
		if vectors[i], err = whole.Short(); err != nil {
			return nil, err
		}
	}
	return callStore(ctx, db, "store_document_chunks", map[string]any{
		"document_ids": documents, "source_hashes": hashes, "chunks": chunks, "embeddings": vectors,
	}, len(plans))
}
