package index

import "context"

// trackedSource is a row of read_sources.
type trackedSource struct {
	ProjectID   int64         `json:"project_id"`
	TicketID    *int64        `json:"ticket_id"`
	CommentID   *int64        `json:"comment_id"`
	ProjectName string        `json:"project_name"`
	TicketName  *string       `json:"ticket_name"`
	Heading     *string       `json:"comment_heading"`
	Texts       []storedText  `json:"texts"`
	SourceHash  string        `json:"source_hash"`
	Chunks      []storedChunk `json:"chunks"`
	Read        int           `json:"sources_read"` // how many of the requested sources were read, from the first on
	set
}

// set is a set of the tracker's chunks. All rows of one reading have the same.
type set struct {
	Number *int    `json:"embedding_set"`   // nil if it neither serves nor is being built any more
	Model  *string `json:"embedding_model"` // the model it requires; nil: the configured one
	// The set that is being built to serve next; nil if none.
	Building         *int `json:"building_set"`
	BuildingChunking *int `json:"building_chunking"`
}

func readTracked(ctx context.Context, db Database, sources []Source, number *int) (found []storedSource, read int, err error) {
	if len(sources) == 0 {
		return nil, 0, nil
	}
	projects, tickets, comments := ids(sources)
	var rows []trackedSource
	if err := db.Call(ctx, "read_sources", map[string]any{
		"project_ids": projects, "ticket_ids": tickets, "comment_ids": comments, "embedding_set": number,
	}, &rows); err != nil {
		return nil, 0, err
	}
	found, read = make([]storedSource, len(rows)), len(sources)
	for i, row := range rows {
		names := []string{row.ProjectName}
		for _, name := range []*string{row.TicketName, row.Heading} {
			if name != nil {
				names = append(names, *name)
			}
		}
		read = row.Read
		found[i] = storedSource{
			Source: Source{ProjectID: row.ProjectID, TicketID: row.TicketID, CommentID: row.CommentID},
			Names:  names, Texts: row.Texts, SourceHash: row.SourceHash, Chunks: row.Chunks, Set: row.set,
		}
	}
	return found, read, nil
}

func storeTracked(ctx context.Context, db Database, plans []*plan) ([]storeResult, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	sources := make([]Source, len(plans))
	for i, p := range plans {
		sources[i] = p.source
	}
	projects, tickets, comments := ids(sources)
	chunks, vectors, hashes := newChunks(plans)
	return call(ctx, db, "store_chunks", map[string]any{
		"project_ids": projects, "ticket_ids": tickets, "comment_ids": comments, "source_hashes": hashes, "chunks": chunks,
		"embeddings": vectors, "embedding_set": plans[0].set,
	}, len(plans))
}

func ids(sources []Source) (projects []int64, tickets, comments []*int64) {
	for _, source := range sources {
		projects = append(projects, source.ProjectID)
		tickets = append(tickets, source.TicketID)
		comments = append(comments, source.CommentID)
	}
	return projects, tickets, comments
}
