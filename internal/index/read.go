package index

import "context"

// storedSource is a source as the database has it.
type storedSource struct {
	Source
	Names      []string // shown above each of its chunks
	Texts      []storedText
	SourceHash string
	Chunks     []storedChunk // in order
	Set        set           // zero for a document
}

type storedText struct {
	Kind           string `json:"kind"`
	StatusChangeID *int64 `json:"status_change_id"`
	Text           string `json:"text"`
}

type storedChunk struct {
	ChunkID        string `json:"chunk_id"`
	InputHash      string `json:"input_hash"`
	Model          string `json:"model"`
	StatusChangeID *int64 `json:"status_change_id"`
	Position       int64  `json:"position"`
}

// readSources returns the existing sources in the requested order, with the chunks of this set or,
// by default, of the serving one, and how many of the requested sources it covers: no more than fit
// into one response.
func readSources(ctx context.Context, db Database, sources []Source, number *int) (found []storedSource, read int, err error) {
	tracked, documents := split(sources, func(s Source) Source { return s })
	found, readTracked, err := readTracked(ctx, db, tracked, number)
	if err != nil {
		return nil, 0, err
	}
	foundDocuments, readDocuments, err := readDocuments(ctx, db, documents)
	if err != nil {
		return nil, 0, err
	}
	merged := make([]storedSource, 0, len(found)+len(foundDocuments))
	for _, source := range sources {
		from, left := &found, &readTracked
		if source.DocumentID != "" {
			from, left = &foundDocuments, &readDocuments
		}
		if *left == 0 {
			break // the rest is read again; responses are rarely that long
		}
		*left--
		read++
		if len(*from) > 0 && (*from)[0].same(source) {
			merged, *from = append(merged, (*from)[0]), (*from)[1:]
		}
	}
	return merged, read, nil
}

// split separates the tracker's sources from documents, each in order.
func split[T any](all []T, source func(T) Source) (tracked, documents []T) {
	for _, one := range all {
		if source(one).DocumentID == "" {
			tracked = append(tracked, one)
		} else {
			documents = append(documents, one)
		}
	}
	return tracked, documents
}
